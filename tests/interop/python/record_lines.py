"""Reads and writes the lines that record-lines.ts describes."""
import base64
import sys


def decode(text):
    return None if text == "-" else base64.b64decode(text)


def encode(data):
    return "-" if data is None else base64.b64encode(data).decode()


def read_records():
    for line in sys.stdin:
        key, value, headers = line.rstrip("\n").split("\t")
        pairs = [header.split(":") for header in headers.split(",") if header]
        yield decode(key), decode(value), [(decode(name).decode(), decode(data)) for name, data in pairs]


def print_record(key, value, headers):
    pairs = ",".join(f"{encode(name.encode())}:{encode(data)}" for name, data in headers or [])
    print(encode(key), encode(value), pairs, sep="\t")
