"""Random expressions of every dialect, drawn so that they fall near a given local time."""

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
SUNDAY_FIRST = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]


def expression(chance, dialect, near):
    """A valid expression of the dialect; `near` is a naive local datetime it should often match."""
    quartz = dialect.startswith("quartz")
    second = "0" if chance.random() < 0.7 else field(chance, 0, 59, near.second, quartz)
    minute = field(chance, 0, 59, near.minute, quartz)
    hour = field(chance, 0, 23, near.hour, quartz)
    month = "*" if chance.random() < 0.7 else months(chance, near.month, quartz)
    day = "*" if chance.random() < 0.5 else days(chance, near.day, quartz)
    weekday = "*" if chance.random() < 0.5 else weekdays(chance, near, dialect)
    if quartz:
        if weekday == "*" or chance.random() < 0.5:
            weekday = "?"
        else:
            day = "?"
    elif dialect == "spring6" and chance.random() < 0.3:
        day, weekday = (day, "?") if chance.random() < 0.5 else ("?", weekday)
    words = [minute, hour, day, month, weekday]
    if dialect != "unix5":
        words.insert(0, second)
    if dialect == "quartz7":
        words.append(years(chance, near.year))
    return " ".join(words)


def field(chance, low, high, near, wraps):
    """A field of plain numbers, usually holding `near` or a neighbour of it."""
    kind = chance.randrange(10)
    close = min(max(near + chance.choice((-1, 0, 0, 0, 1)), low), high)
    if kind == 0:
        return "*"
    if kind == 1:
        return f"*/{chance.choice((2, 3, 5, 7, 10, 12, 15, 20, 23))}"
    if kind == 2:
        return f"{chance.randint(low, close)}-{chance.randint(close, high)}"
    if kind == 3:
        return f"{chance.randint(low, close)}-{high}/{chance.randint(1, 20)}"
    if kind == 4:
        return f"{chance.randint(low, close)}/{chance.randint(1, 20)}"
    if kind == 5:
        return ",".join(str(chance.randint(low, high)) for _ in range(chance.randint(2, 4))) + f",{close}"
    if kind == 6 and wraps and close > low:
        return f"{close}-{chance.randint(low, close - 1)}"
    if kind == 7:
        return "0" if low == 0 else str(low)
    return str(close)


def months(chance, near, wraps):
    kind = chance.randrange(4)
    if kind == 0:
        return MONTHS[near - 1]
    if kind == 1:
        return f"{chance.randint(1, near)}-{chance.randint(near, 12)}"
    if kind == 2 and wraps:
        return f"{near}-{chance.randint(1, 12)}"
    return ",".join(sorted({str(near), str(chance.randint(1, 12))}))


def days(chance, near, wraps):
    kind = chance.randrange(9)
    if kind == 0:
        return "L"
    if kind == 1:
        return "LW"
    if kind == 2:
        return f"{near}W"
    if kind == 3:
        return f"L-{chance.randint(1, 6)}"
    if kind == 4:
        return f"*/{chance.randint(1, 5)}"
    if kind == 5:
        return f"{chance.randint(1, near)}-{chance.randint(near, 31)}"
    if kind == 6:
        return f"{near},{chance.randint(1, 28)}W,L"
    if kind == 7 and wraps and near > 1:
        return f"{near}-{chance.randint(1, near - 1)}"
    return f"{near},{chance.randint(1, 31)}"


def weekdays(chance, near, dialect):
    """A weekday field; numbers follow the dialect."""
    sunday_based = (near.weekday() + 1) % 7
    name = SUNDAY_FIRST[sunday_based]
    number = sunday_based + 1 if dialect.startswith("quartz") else sunday_based
    kind = chance.randrange(8)
    if kind == 0:
        return f"{number}L" if chance.random() < 0.5 else f"{name}L"
    if kind == 1:
        return f"{number}#{(near.day - 1) // 7 + 1}"
    if kind == 2:
        return f"*/{chance.randint(1, 4)}"
    if kind == 3:
        return "MON-FRI"
    if kind == 4:
        return f"{name},{chance.choice(SUNDAY_FIRST)}"
    if kind == 5:
        return f"{number}/{chance.randint(1, 3)}"
    if kind == 6 and dialect.startswith("quartz"):
        return chance.choice(["FRI-MON", "L", f"{number}-2"])
    return str(number) if number or chance.random() < 0.5 else ("7" if dialect != "quartz7" else "1")


def years(chance, near):
    kind = chance.randrange(4)
    if kind == 0:
        return str(near)
    if kind == 1:
        return f"{near - 1 if near > 1970 else near}-{near + 1}"
    if kind == 2 and near > 1972:
        return f"{near - 2}/2"
    return "*"


def odd_quartz(chance):
    """A Quartz expression from the corners: short months, workdays at their ends, wrapped ranges, steps, rare years."""
    day, weekday = "?", "?"
    if chance.random() < 0.6:
        day = chance.choice(
            [
                f"{chance.randint(26, 31)}W",
                f"{chance.randint(1, 4)}W",
                f"L-{chance.randint(1, 30)}",
                f"L-{chance.randint(1, 27)}W",  # beyond that Quartz may never come back
                "LW",
                "L",
                f"{chance.randint(28, 31)}",
                f"{chance.randint(20, 31)}-{chance.randint(1, 19)}/{chance.randint(1, 9)}",
                f"{chance.randint(1, 31)}/{chance.randint(1, 31)}",
                "29,30,31",
            ]
        )
    else:
        a, b = chance.randint(1, 7), chance.randint(1, 7)
        weekday = chance.choice(
            [
                f"{a}L",
                f"{a}#5",
                f"{a}#{b % 5 + 1}",
                f"{SUNDAY_FIRST[a - 1]}#{b % 5 + 1}",
                f"{SUNDAY_FIRST[a - 1]}L",
                f"{a}-{b}",
                f"{SUNDAY_FIRST[a - 1]}-{SUNDAY_FIRST[b - 1]}",
                f"{a}-{b}/{chance.randint(1, 4)}",
                f"{a}/{chance.randint(1, 7)}",
                "L",
                f"*/{chance.randint(1, 7)}",
            ]
        )
    month = chance.choice(["*", "2", "FEB", "4,6,9,11", "NOV-FEB", "11-2/2", "*/5", "3/4", "JAN-MAR,SEP"])
    hour = chance.choice(["0", "23", "*", "22-3", "20-4/3", "*/7", "5/6", "/4"])
    minute = chance.choice(["0", "59", "*", "*/17", "50-10", "45-15/7", "1/1", "/25"])
    second = chance.choice(["0", "59", "*/30", "55-5", "0,30", "50-10/15"])
    words = [second, minute, hour, day, month, weekday]
    if chance.random() < 0.3:
        words.append(chance.choice(["*", "2024", "2023-2030", "2024/4", "2020,2028,2032", "*/3", "2098-2099"]))
    return " ".join(words)
