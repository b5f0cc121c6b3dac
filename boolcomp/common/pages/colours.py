"""Colours that people with any kind of colour vision tell apart, on white and on near black.

After Okabe and Ito (Color Universal Design, 2008), those that are too pale for white made darker
and those too dark for black lighter, so that every one has a contrast of 3 : 1 with its ground
(WCAG 2.2, 1.4.11); text has 4.5 : 1 and more. Series differ in dash and shape as well.
"""

from __future__ import annotations

LIGHT = {
    "ground": "#ffffff", "panel": "#f4f6f8", "ink": "#1b2127", "soft": "#55606b",
    "line": "#d5dbe1", "link": "#0b5fa5", "good": "#00694c", "bad": "#a63c06",
    "c1": "#0072b2", "c2": "#c85200", "c3": "#008a63", "c4": "#a64d86",
    "c5": "#9a6a00", "c6": "#2d86b8", "c7": "#5b5b5b", "c8": "#6a4fb3",
}  # fmt: skip
DARK = {
    "ground": "#14181d", "panel": "#1d232a", "ink": "#e8ecf0", "soft": "#a9b4bf",
    "line": "#39434d", "link": "#7cc0f5", "good": "#4fd1a5", "bad": "#ff9c66",
    "c1": "#56b4e9", "c2": "#ff9b52", "c3": "#35c99a", "c4": "#e39ac6",
    "c5": "#f0e442", "c6": "#9fd0ff", "c7": "#bdbdbd", "c8": "#b9a5ff",
}  # fmt: skip
SERIES = tuple(f"c{k}" for k in range(1, 9))
SEQUENTIAL = "cividis"  # heat maps: even, and the same for all kinds of colour vision
DIVERGING = "blueorange"


def colour(name: str) -> str:
    """Return a colour as CSS says it: that of the page's scheme; alone, that of the light one."""
    return f"var(--{name}, {LIGHT[name]})"


def variables() -> str:
    """Return the style that gives every colour its value, light and dark; paper is light."""
    light = "".join(f"--{name}:{value};" for name, value in LIGHT.items())
    dark = "".join(f"--{name}:{value};" for name, value in DARK.items())
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )
