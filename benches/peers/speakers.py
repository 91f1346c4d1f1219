"""cpWER by MeetEval, without and with times, with its counts."""

import sys

import meeteval
from measure import measure


def work():
    reference, prediction = (meeteval.io.load(name) for name in ("r.stm", "p.stm"))
    if sys.argv[1:]:
        sessions = meeteval.wer.tcpwer(reference, prediction, collar=int(sys.argv[1]))
        name = "tcp_wer"
    else:
        sessions = meeteval.wer.cpwer(reference, prediction)
        name = "cp_wer"
    total = meeteval.wer.combine_error_rates(sessions)
    return {
        name: total.error_rate,
        "hits": total.length - total.substitutions - total.deletions,
        "substitutions": total.substitutions,
        "deletions": total.deletions,
        "insertions": total.insertions,
    }


measure(work)
