"""Whether a server has its console: its page, and the script that the page loads."""

import re

import httpx2

SCRIPT = re.compile(r'src="(/console/assets/[^"]+\.js)"')


def assert_console(url: str) -> None:
    """The page answers with the console, and its script is there."""
    page = httpx2.get(f"{url}/console/")
    assert page.status_code == 200, page.text
    [script] = SCRIPT.findall(page.text)
    answer = httpx2.get(url + script)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, "text/javascript")
    assert len(answer.content) > 10_000
