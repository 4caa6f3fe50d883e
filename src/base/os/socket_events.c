#include "base/os/socket_events.h"

#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <unistd.h>

int socket_events_open(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

void socket_events_close(int set) {
    if (set >= 0) close(set);
}

bool socket_events_watch(int set, int socket, bool to_read, bool to_write) {
    uint32_t wanted = (to_read ? (uint32_t)EPOLLIN : 0) | (to_write ? (uint32_t)EPOLLOUT : 0);
    struct epoll_event event = {.events = wanted, .data.fd = socket};
    if (epoll_ctl(set, EPOLL_CTL_ADD, socket, &event) == 0) return true;
    return errno == EEXIST && epoll_ctl(set, EPOLL_CTL_MOD, socket, &event) == 0;
}

void socket_events_forget(int set, int socket) {
    epoll_ctl(set, EPOLL_CTL_DEL, socket, NULL);
}

size_t socket_events_wait(struct socket_event events[SOCKET_EVENTS_MAX], int set, int timeout_ms) {
    struct epoll_event ready[SOCKET_EVENTS_MAX];
    int count = epoll_wait(set, ready, SOCKET_EVENTS_MAX, timeout_ms);
    for (int i = 0; i < count; i++)
        events[i] = (struct socket_event){
            .socket = ready[i].data.fd,
            .can_read = (ready[i].events & (EPOLLIN | EPOLLHUP)) != 0,
            .can_write = (ready[i].events & EPOLLOUT) != 0,
            .has_failed = (ready[i].events & EPOLLERR) != 0,
        };
    return count > 0 ? (size_t)count : 0;
}
