#!/usr/bin/env python3
"""Writes schedule_table.def: what Python's zoneinfo says of calendars at moments, for grant_schedule_test.c.

Usage: test/unit/domain/schedule_table.py >test/unit/domain/schedule_table.def

A calendar is a zone, windows, and the seconds from which and until which it holds. Its moments lie around its edges and
the changes of the zone's clocks. The moments are past, so that a later edition of the zones says the same.
"""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAY = 86400
FOREVER = (0, 2**40)

ZONES = """Europe/Berlin Europe/London America/New_York America/Los_Angeles America/St_Johns America/Havana America/Sao_Paulo
Atlantic/Azores Asia/Beirut Asia/Gaza Asia/Kathmandu Asia/Tokyo Africa/Cairo Africa/Casablanca Antarctica/Troll
Australia/Lord_Howe Pacific/Chatham Pacific/Auckland UTC""".split()

SUN, MON, TUE, WED, THU, FRI, SAT = (1 << i for i in range(7))
ALL = 127
WINDOWS = [
    [(ALL, "01:30", "02:30")],
    [(SUN, "02:00", "03:00")],
    [(SAT, "22:00", "06:00")],
    [(ALL, "23:30", "00:30")],
    [(FRI | SAT, "00:00", "00:00")],
    [(TUE | FRI, "09:00", "12:00"), (SUN, "00:00", "02:15"), (SAT | SUN, "23:00", "01:10")],
]


def seconds(*when, zone="UTC"):
    return int(datetime(*when, tzinfo=ZoneInfo(zone)).timestamp())


def offset(zone, at):
    return datetime.fromtimestamp(at, UTC).astimezone(zone).utcoffset()


def changes(zone, begin, end):
    """The first second after each change of the clocks."""
    found = []
    for at in range(begin, end, 6 * 3600):
        low, high = at, at + 6 * 3600
        if offset(zone, low) == offset(zone, high):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if offset(zone, middle) == offset(zone, low) else (low, middle)
        found.append(high)
    return found


def in_window(zone, windows, at):
    here = datetime.fromtimestamp(at, UTC).astimezone(zone).replace(tzinfo=None)
    for date in (here.date() - timedelta(days=1), here.date()):
        for days, start, end in windows:
            if not days >> (date.isoweekday() % 7) & 1:
                continue
            begins = datetime.combine(date, time.fromisoformat(start))
            ends = datetime.combine(date, time.fromisoformat(end))
            if ends <= begins:
                ends += timedelta(days=1)
            if begins <= here < ends:
                return True
    return False


def write(name, windows, span, moments):
    """The windows are looked at minute by minute, because clocks change and windows begin and end at whole minutes."""
    zone = ZoneInfo(name)
    begin, end = min(moments) // 60 * 60, max(max(moments), span[0]) + 9 * DAY
    inside = [in_window(zone, windows, at) for at in range(begin, end, 60)]

    def holds(at):
        return span[0] <= at < span[1] and inside[(at - begin) // 60]

    def wait(at):
        tries = [at, span[0]] + list(range(at // 60 * 60 + 60, end, 60))
        return next((t - at for t in sorted(set(tries)) if at <= t < end and holds(t)), -1)

    text = ";".join("".join(str(days >> i & 1) for i in range(7)) + f" {start}-{end}" for days, start, end in windows)
    until = "NO_END" if span[1] == FOREVER[1] else span[1]
    print(f'CALENDAR("{name}", "{text}", {span[0]}, {until})')
    print("".join(f"AT({at}, {int(holds(at))}, {wait(at)})\n" for at in sorted(set(moments))), end="")


def edges(name, windows, begin, end):
    """The minutes at which the windows begin or end."""
    zone = ZoneInfo(name)
    states = [(at, in_window(zone, windows, at)) for at in range(begin, end, 60)]
    return [b[0] for a, b in zip(states, states[1:]) if a[1] != b[1]]


def main():
    print("/* Written by schedule_table.py. AT(moment, inside, seconds to the next opening or -1). */")
    for name in ZONES:
        zone = ZoneInfo(name)
        nights = changes(zone, seconds(2018, 9, 1), seconds(2019, 5, 1)) or [seconds(2018, 11, 4, 6)]
        for at in nights[:2]:
            for windows in WINDOWS:
                moments = [at + d for d in (-1, 0, 1800, 3599, 3600, 7200)]
                near = edges(name, windows, at - DAY, at + DAY)
                moments += [e + d for e in near for d in (-1, 0)][:10]
                write(name, windows, FOREVER, moments)
    # A day that the zone left out.
    left_out = seconds(2011, 12, 30, 10)
    for windows in WINDOWS + [[(FRI, "09:00", "10:00")], [(THU, "22:00", "06:00")], [(FRI, "22:00", "06:00")]]:
        write("Pacific/Apia", windows, FOREVER, [left_out + d * 3600 for d in range(-30, 31, 5)] + [left_out - 1])
    # Leap days.
    for name in ("Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Auckland"):
        for year in (2000, 2020, 2023, 2024):
            end = seconds(year, 3, 1, zone=name)
            for windows in ([(ALL, "23:00", "01:00")], [(THU | SAT, "09:00", "00:00")]):
                write(name, windows, FOREVER, [end + d * 1800 for d in range(-54, 10, 9)] + [end - 1, end])
    # From and until at the edges of a window, inside it, and across a change of the clocks.
    for name, at in (("Europe/Berlin", seconds(2019, 3, 30, 21)), ("America/New_York", seconds(2018, 11, 4, 2)),
                     ("Asia/Tokyo", seconds(2020, 2, 29, 13)), ("Australia/Lord_Howe", seconds(2019, 4, 6, 11))):
        windows = [(SAT, "22:00", "06:00"), (SUN, "09:00", "12:00")]
        first, second, third = edges(name, windows, at - 12 * 3600, at + 3 * DAY)[:3]
        for span in ((first, second), (first + 90, second - 90), (0, first), (0, first + 1), (0, second), (second, third),
                     (second, third + 1), (third + 17, FOREVER[1]), (second - 1, second), (first - 3600, first + 61)):
            marks = [first, second, third, span[0], min(span[1], third + DAY)]
            write(name, windows, span, [m + d for m in marks if m for d in (-1, 0, 1)])


main()
