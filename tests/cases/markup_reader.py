"""Reading markup with the standard library, and texts that try to break out of it."""

import html.parser

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--",
    "]]>",
    "\"'><img src=x onerror=alert(1)>",
    "&amp;",
    "\u2028",
    "`",
]


class Reader(html.parser.HTMLParser):
    """The standard library's reader of HTML, which knows nothing of how the page was written."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append(dict(attrs))

    def handle_data(self, data):
        self.words.append(data)


def read(markup):
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader
