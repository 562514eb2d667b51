"""Markdown of DingTalk and WeCom, whose clients know no reliable escape.

Each character that could begin markup, a mention or a link becomes a full-width character that looks like it. Names of
letters, digits, dots, hyphens and underscores stay as they are.
"""

from typing import Final

from horae.domain.alerts.texts import AlertText, TextLine

LOOK_ALIKES: Final = str.maketrans(
    {
        "<": "＜",
        ">": "＞",
        "[": "［",
        "]": "］",
        "(": "（",
        ")": "）",
        "*": "＊",
        "`": "｀",
        "#": "＃",
        "@": "＠",
        "!": "！",
        "|": "｜",
        "~": "～",
        "\\": "＼",
        "&": "＆",
    }
)
LINK_MARK: Final = "://"
DEAD_LINK_MARK: Final = "：//"
"""A URL inside a foreign text is not made a link by the client."""


def harmless(text: str) -> str:
    """Return a text that no client reads as markup, mention or link."""
    return text.translate(LOOK_ALIKES).replace(LINK_MARK, DEAD_LINK_MARK)


def markdown_of(text: AlertText, line_end: str) -> str:
    """Return the title as a heading, and a line for each fact."""
    return line_end.join([f"### {harmless(text.title)}", *[_line(line, text.colon) for line in text.lines]])


def _line(line: TextLine, colon: str) -> str:
    if line.is_link:
        return f"[{harmless(line.label)}]({line.value})"
    return f"**{harmless(line.label)}**{colon}{harmless(line.value)}"
