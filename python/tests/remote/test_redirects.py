"""Redirects that are not followed, whatever a proxy would do."""

import pytest
import recmap


@pytest.mark.parametrize("location", ["http://169.254.169.254/x", "//u@2852039166:80/x"])
def test_a_proxy_is_not_asked_for_redirects_to_link_local_addresses(server, tmp_path, location):
    def redirect(handler):
        handler.answer(302, Location=location)
        return True

    server.faults = [redirect] * 10
    with pytest.raises(PermissionError, match="redirects to an address that is not read") as error:
        recmap.open(
            "http://shards.test/x.tfrecord",
            index=tmp_path / "a.rmx",
            storage_options={"proxy": server.url},
        )
    assert "link-local" in str(error.value)
    assert [path for path, _ in server.requests] == ["http://shards.test/x.tfrecord"]
