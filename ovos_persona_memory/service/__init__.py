"""The daemon: hears the bus, keeps what was said, answers at two doors.

One utterance passes: bus -> service/daemon -> messages -> transcript -> store.
One context request: the same way in, service/answers -> memory -> history, recall, context -> and back.
"""
