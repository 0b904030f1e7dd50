"""Reads Rust files for the checks in this folder, without comments and unit tests."""

import re

# Comments, strings, characters. A lifetime is not a character: it has no closing quote.
LITERAL = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | \b(?:b|c)?r(\#*)".*?"\1
      | (?:\b[bc])?"(?:[^"\\]|\\.)*"
      | b?'(?:[^'\\\n]|\\(?:u\{[^}]*\}|x..|.))'
    """,
    re.S | re.X,
)


def code(text, keeps_strings=False):
    """The code of a file: comments are blanked, strings are emptied or kept, and unit tests are removed.
    Lines keep their numbers."""

    def blank(match):
        found = match.group()
        lines = "\n" * found.count("\n")
        if found.startswith("/"):
            return lines or " "
        return found if keeps_strings else '""' + lines

    text = LITERAL.sub(blank, text)
    while found := re.search(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))? )?mod \w+ *\{", text):
        end, depth = found.end(), 1
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        cut = text[found.start() : end]
        text = text[: found.start()] + "\n" * cut.count("\n") + text[end:]
    return text
