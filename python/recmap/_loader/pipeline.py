"""Threads that run a loader's `transform` on batches ahead of use.

A signal handler that raises can end the main thread's code between any two calls, also inside
`threading.Condition` and `concurrent.futures`, whose locks then stay taken. So the thread that
iterates over the loader touches only what one C call changes as a whole: locks of `_thread`,
`SimpleQueue`, and attributes. Everything else happens in threads that never see a signal: the
feeder, which takes steps, and the pool, which transforms them.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import contextvars
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Any

from .. import _recmap
from .stages import TransformTimes

__all__ = ["Pipeline", "submit_later"]

# Of a step. The iterating thread sets AGAIN, the feeder PENDING, a worker READY and FAILED.
_PENDING, _READY, _FAILED, _AGAIN = range(4)

_POLL = 0.2  # seconds: a signal that arrives just before a wait does not end it

# Without the GIL, an object that another thread released last is often freed only when the thread
# that created it runs again. So the feeder runs now and then. Otherwise a bound method that it
# created could keep the pipeline, for whose end the feeder waits.
_IDLE = None if getattr(sys, "_is_gil_enabled", lambda: True)() else 0.5

_this_thread = threading.local()  # .pipeline: whose transform runs here
_running: weakref.WeakSet[Pipeline] = weakref.WeakSet()


class Pipeline:
    """Transforms the steps of `source` in order. Up to two steps for each worker are ahead.

    Args:
        source: where steps are taken.
        check: called with each step, in their order, or None. If it raises, so does the step.
        function: called with each step, in a thread of the pool. Returns the step's value.
        worker_count: the number of threads of the pool.
        epoch_limit: the first epoch of which no step is taken; None: steps are taken up to the end
            of the current epoch.
        times: counts the time that the transform ran, and that the caller waited for it.
    """

    def __init__(
        self,
        source: _recmap.Loader,
        check: Callable[[Any], None] | None,
        function: Callable[[_recmap.Step], Any],
        worker_count: int,
        epoch_limit: int | None,
        times: TransformTimes,
    ) -> None:
        self._source, self._check, self._function = source, check, function
        self._times = times
        times.thread_count = worker_count
        self._context = contextvars.copy_context()  # of the caller: NumPy's `errstate`, for example
        self._worker_count, self._epoch_limit = worker_count, epoch_limit
        self._error: tuple[int, BaseException] | None = None  # of the last try to take a step,
        # with the generation of steps that it belongs to
        self.is_stopped = False
        self._reset()

    def _reset(self) -> None:
        self._owner = 0  # the feeder's process; 0: there is no feeder yet
        self._taken = _thread.allocate_lock()  # released when the feeder took, or could not
        self._ended = _thread.allocate_lock()  # held by the feeder until the pool has ended
        self._wake: SimpleQueue[None] = SimpleQueue()

    # ---- The thread that iterates. It may be interrupted anywhere.

    def first(self) -> _recmap.Step | None:
        """The first step ahead, with its value; None after a while without one.

        Raises what the transform or the taking raised; the next call tries again.
        """
        self._begin()
        self._wake.put(None)
        step = self._source.first()
        if step is None:
            self._raise_error()
            self._wait(self._taken)
        elif step.status == _READY:
            return step
        elif step.status == _FAILED:
            error = step.error
            # Otherwise another thread raised it, and the feeder may have submitted the step again.
            if error is not None and step.replace_status(_FAILED, _AGAIN):
                raise error
        else:
            finished = step.finished  # read once: the feeder replaces it
            if step.status == _AGAIN or finished is None:
                self._wait(self._taken)
            elif self._wait(finished):
                _release(finished)  # for other threads that wait
        return None

    def is_ready(self, seconds: float) -> bool:
        """Returns true if `first` would return a step or raise, after at most these seconds."""
        self._begin()
        self._wake.put(None)
        step = self._source.first()
        if step is None:
            error = self._error
            if error is not None and error[0] == self._source.ahead()[3]:
                return True
            self._wait(self._taken, seconds)
            return False
        if step.status in (_READY, _FAILED):
            return True
        finished = step.finished  # read once: the feeder replaces it
        if step.status == _AGAIN or finished is None:
            self._wait(self._taken, seconds)
        elif self._wait(finished, seconds):
            _release(finished)
        return step.status in (_READY, _FAILED)

    def _wait(self, lock: Any, seconds: float = _POLL) -> bool:
        started_ns = time.monotonic_ns()
        is_acquired: bool = lock.acquire(True, seconds)
        self._times.waited_ns += time.monotonic_ns() - started_ns
        return is_acquired

    def _raise_error(self) -> None:
        error = self._error
        if error is not None:
            self._error = None
            if error[0] == self._source.ahead()[3]:
                raise error[1]

    def _begin(self) -> None:
        """Starts the feeder, unless it runs. If two are started, the second ends at once."""
        owner = self._owner  # read once: a feeder that was slow to begin sets it meanwhile
        if owner == os.getpid():
            return
        self._source.check_process()
        if owner:
            self._reset()  # this is a child process, and locks and queue are its parent's
        _thread.start_new_thread(_feed, (weakref.ref(self), self._wake, self._ended))

    def stop(self) -> None:
        """Takes no more steps; transforms that have begun end."""
        self.is_stopped = True
        self._wake.put(None)

    def join(self) -> None:
        """After `stop`: waits for transforms that have begun, except from within one."""
        if self._owner != os.getpid() or self.is_in_worker():
            return
        while not self._ended.acquire(True, _POLL):
            pass
        _release(self._ended)

    def __del__(self) -> None:
        wake = self.__dict__.get("_wake")  # none when __init__ was interrupted
        if wake is not None:
            wake.put(None)

    def is_in_worker(self) -> bool:
        """Returns true if the caller is the function of this pipeline."""
        return getattr(_this_thread, "pipeline", None) is self

    # ---- The feeder.

    def feed(self, pool: ThreadPoolExecutor) -> None:
        """Takes steps until the pool has enough to do."""
        first = self._source.first()
        if first is not None and first.status == _AGAIN:
            self._submit(pool, first)
            _release(self._taken)
        while self._wants_more():
            generation = self._source.ahead()[3]
            try:
                step = self._source.take()
            except BaseException as error:
                self._error = generation, error
            else:
                if step is not None:
                    self._submit(pool, step)
            _release(self._taken)

    def _wants_more(self) -> bool:
        count, epoch, is_end, generation = self._source.ahead()
        if self.is_stopped or count >= 2 * self._worker_count:
            return False
        error = self._error  # read once: the iterating thread replaces it
        if error is not None and error[0] == generation:
            return False
        if self._epoch_limit is None:
            return not is_end
        return epoch < self._epoch_limit

    def report(self, error: BaseException) -> None:
        """Lets the iterating thread raise what would have ended the feeder and left it waiting."""
        self._error = self._source.ahead()[3], error
        _release(self._taken)

    def _submit(self, pool: ThreadPoolExecutor, step: _recmap.Step) -> None:
        if step.is_end:
            step.status = _READY
            return
        finished = _thread.allocate_lock()
        finished.acquire()
        step.finished, step.error = finished, None
        step.status = _PENDING
        try:
            if self._check is not None:
                self._context.copy().run(self._check, step)
            pool.submit(self._work, step)
        except BaseException as error:  # also if no thread can be started
            self._fail(step, error)

    # ---- A worker.

    def _work(self, step: _recmap.Step) -> None:
        _this_thread.pipeline = self
        started_ns = self._times.begin()
        try:
            step.value = self._context.copy().run(self._function, step)
            self._times.end(started_ns)
            step.status = _READY
            _release(step.finished)
        except BaseException as error:
            self._fail(step, error)
        finally:
            _this_thread.pipeline = None

    @staticmethod
    def _fail(step: _recmap.Step, error: BaseException) -> None:
        step.error = error
        step.status = _FAILED
        _release(step.finished)


def submit_later(step: _recmap.Step) -> None:
    """Marks a step that was taken without the pipeline, so that its feeder submits it."""
    step.status = _AGAIN


def _release(lock: Any) -> None:
    """Wakes one that waits for the lock, whether or not it is held."""
    with contextlib.suppress(RuntimeError):
        lock.release()


def _feed(reference: Any, wake: SimpleQueue[None], ended: Any) -> None:
    """The feeder. While it waits it keeps nothing but the queue, so that a loader that is no longer
    used takes its threads along."""
    if not ended.acquire(False):
        return
    try:
        pipeline = reference()
        if pipeline is None or pipeline.is_stopped:
            return
        pipeline._owner = os.getpid()
        _running.add(pipeline)
        with ThreadPoolExecutor(pipeline._worker_count, "recmap-transform") as pool:
            while pipeline is not None and not pipeline.is_stopped:
                try:
                    pipeline.feed(pool)
                except BaseException as error:
                    pipeline.report(error)
                pipeline = None
                with contextlib.suppress(Empty):
                    wake.get(timeout=_IDLE)
                pipeline = reference()
            pool.shutdown(wait=False, cancel_futures=True)
    finally:
        ended.release()


@atexit.register
def _stop_all() -> None:
    for pipeline in list(_running):
        pipeline.stop()
    for pipeline in list(_running):
        pipeline.join()
