"""Does not end when its input does, and not of SIGTERM."""

import signal
import time

import server

signal.signal(signal.SIGTERM, signal.SIG_IGN)
server.serve()
time.sleep(60)
