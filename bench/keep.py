"""Tables of bench/README.md: each stands between a mark with its name and one that ends it."""
from pathlib import Path

README = Path(__file__).resolve().parent / "README.md"


def keep(text, name):
    """Replaces the text between the marks of that name."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, found, rest = README.read_text().partition(start)
    if not found or end not in rest:
        raise ValueError(f"{README}: no place for {name}")
    README.write_text(before + start + text + end + rest.partition(end)[2])
