"""Commands done at most once, events seen exactly once, and what the link says when the other end is not as it should be."""

from collections.abc import Iterable

import pytest
from scripted import Script, event, identity, polite, reply

from rig.link import messages, wire
from rig.link.codec import Frame, StopByte
from rig.link.errors import BoardReset, LinkError, LinkLost, NoAnswer, PortGone, Refused, WrongWireVersion
from rig.link.link import EventsMissed, Link

Said = Iterable[Frame | bytes]


def _linked(answer=polite) -> tuple[Link, Script]:
    """A link that was identified politely; `answer` has the word from then on."""

    def first_polite(script: Script, asked: Frame) -> Said:
        return polite(script, asked) if asked.code == wire.Command.IDENTIFY else answer(script, asked)

    script = Script(first_polite)
    link = Link(script, script, session=7)
    link.identify()
    script.sent.clear()
    script.bytes_sent.clear()
    return link, script


def _moved(number: int) -> Frame:
    return event(number, messages.MoveDone(wire.Axis.AZIMUTH, 3000 + number))


# Who is there


def test_identify_tells_who_answers():
    link_script = Script(polite)
    identity_ = Link(link_script, link_script).identify()
    assert (identity_.wire_version, identity_.firmware) == (wire.WIRE_VERSION, "1.2.3")


def test_identify_outlasts_the_boot_loader_that_opening_the_port_starts():
    awake_us = 1_000_000 + 2_500_000
    script = Script(lambda s, asked: polite(s, asked) if s.time_us >= awake_us else [])
    Link(script, script).identify()
    assert awake_us <= script.time_us < awake_us + 300_000


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        (b"", "not one byte came"),
        (b"ok\r\n" * 3, "bytes came that are none of its frames"),
    ],
)
def test_nobody_at_the_other_end_is_said_after_three_seconds(noise, words):
    script = Script(lambda s, asked: [noise] if noise else [])
    with pytest.raises(NoAnswer, match=words) as error:
        Link(script, script).identify()
    assert script.time_us == 1_000_000 + error.value.waited_us == 4_000_000


def test_a_single_byte_is_told_as_one():
    told = "; 1 byte came that is none of its frames (another baud rate, or another device?)"
    assert str(NoAnswer(waited_us=3_000_000, heard=1)).endswith(told)
    assert "2 bytes came that are none" in str(NoAnswer(waited_us=3_000_000, heard=2))


@pytest.mark.parametrize("board", [1, 77])
def test_another_wire_version_is_told_with_both_numbers_and_the_firmware(board):
    script = Script(lambda s, asked: [reply(asked, identity(s, wire_version=9, board=board))])
    with pytest.raises(
        WrongWireVersion,
        match=rf"firmware 1\.2\.3 speaks wire version 9, this controller {wire.WIRE_VERSION}",
    ) as error:
        Link(script, script).identify()
    assert (error.value.found, error.value.expected) == (9, wire.WIRE_VERSION)


def test_every_identify_is_another_session():
    script = Script(polite)
    link = Link(script, script, session=65535)
    link.identify()
    link.identify()
    sessions = [frame.message.session for frame in script.commands(wire.Command.IDENTIFY)]
    assert sessions == [0, 1]


# Commands


def test_a_command_is_sent_again_byte_for_byte_until_it_is_answered():
    deaf = [4]

    def answer(script, asked):
        deaf[0] -= 1
        return [] if deaf[0] >= 0 else polite(script, asked)

    link, script = _linked(answer)
    assert link.ask(messages.Cock()) == messages.Begun(2000)
    assert len(script.bytes_sent) == 5
    assert len(set(script.bytes_sent)) == 1
    assert link.repeated == 4


def test_each_command_has_the_id_after_the_last():
    link, script = _linked()
    for _ in range(300):
        link.beat()
    assert [item.seq for item in script.sent] == [n % 256 for n in range(1, 301)]


def test_an_answer_to_another_command_is_no_answer():
    def answer(script, asked):
        late = Frame(asked.seq - 1, asked.code + wire.ANSWER_OFFSET, messages.Begun(1))
        other = Frame(asked.seq, wire.Command.HOME + wire.ANSWER_OFFSET, messages.Begun(2))
        return [late, other, reply(asked, messages.Begun(3)), late]

    link, script = _linked(answer)
    assert link.ask(messages.Cock()).expected_ms == 3
    assert len(script.sent) == 1


def test_a_refusal_carries_command_reason_and_sentence():
    link, _ = _linked(lambda s, asked: [reply(asked, messages.Refused(wire.Refusal.KEY_OFF, 5))])
    with pytest.raises(Refused, match="refused the command arm: the arming key is off") as error:
        link.ask(messages.Arm())
    assert (error.value.command, error.value.reason, error.value.detail) == (
        wire.Command.ARM,
        wire.Refusal.KEY_OFF,
        5,
    )


def test_a_refusal_does_not_end_the_session():
    link, script = _linked(
        lambda s, asked: (
            [reply(asked, messages.Refused(wire.Refusal.KEY_OFF, 0))]
            if asked.code == wire.Command.ARM
            else polite(s, asked)
        )
    )
    with pytest.raises(Refused):
        link.ask(messages.Arm())
    assert link.ask(messages.MakeSafe()).state is wire.State.SAFE
    assert [item.seq for item in script.sent] == [1, 2]


def test_silence_for_a_second_is_a_lost_link_until_a_new_session():
    link, script = _linked(lambda s, asked: [])
    begun_us = script.time_us
    with pytest.raises(LinkLost, match="did not answer to arm within 1 s"):
        link.ask(messages.Arm())
    assert 1_000_000 <= script.time_us - begun_us < 1_100_000
    count = len(script.sent)
    with pytest.raises(LinkLost):
        link.ask(messages.MakeSafe())
    with pytest.raises(LinkLost):
        link.wait(1_000)
    assert len(script.sent) == count
    link.identify()
    assert link.wait(0) == []


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (lambda s, asked: [], NoAnswer),
        (lambda s, asked: [reply(asked, messages.Refused(wire.Refusal.BAD_LENGTH, 0))], Refused),
        (lambda s, asked: [reply(asked, identity(s, wire_version=9))], WrongWireVersion),
    ],
)
def test_link_whose_identify_failed_sends_nothing_and_says_why(said, error):
    script = Script(said)
    link = Link(script, script)
    with pytest.raises(error):
        link.identify()
    count = len(script.sent)
    for say in (lambda: link.ask(messages.MakeSafe()), link.beat, lambda: link.wait(0)):
        with pytest.raises(error):
            say()
    assert len(script.sent) == count


def test_link_that_was_never_identified_sends_nothing():
    script = Script(polite)
    with pytest.raises(LinkError, match="no cannon has been identified on this line yet"):
        Link(script, script).ask(messages.MakeSafe())
    assert script.sent == []


def test_the_first_repetition_waits_for_the_bytes_at_the_lines_speed():
    def silent_times(baud: int) -> int:
        script = Script(lambda s, asked: polite(s, asked) if asked.code == wire.Command.IDENTIFY else [])
        link = Link(script, script, baud=baud)
        link.identify()
        script.sent.clear()
        with pytest.raises(LinkLost):
            link.ask(messages.Arm())
        return len(script.sent)

    assert silent_times(115_200) > 2 * silent_times(9_600)


def test_a_port_that_vanishes_under_a_command_says_so_and_the_link_is_lost():
    def vanish(script, asked):
        raise PortGone("/dev/ttyUSB0", "it has vanished")

    link, _ = _linked(vanish)
    with pytest.raises(PortGone, match="port /dev/ttyUSB0: it has vanished"):
        link.ask(messages.Arm())
    with pytest.raises(LinkLost, match="arm was broken off"):
        link.ask(messages.Arm())


def test_a_command_broken_off_by_the_person_leaves_the_link_lost_and_a_new_session_finds_it_again():
    def interrupt(script, asked):
        if asked.code == wire.Command.COCK:
            raise KeyboardInterrupt
        return polite(script, asked)

    link, _ = _linked(interrupt)
    with pytest.raises(KeyboardInterrupt):
        link.ask(messages.Cock())
    with pytest.raises(LinkLost, match="cock was broken off"):
        link.ask(messages.MakeSafe())
    link.identify()
    assert link.ask(messages.MakeSafe()).state is wire.State.SAFE


def test_the_stop_byte_goes_at_once_and_alone_even_when_the_link_is_lost():
    link, script = _linked(lambda s, asked: [])
    link.stop()
    assert script.bytes_sent == [bytes([wire.STOP])]
    with pytest.raises(LinkLost):
        link.ask(messages.Arm())
    link.stop()
    assert script.sent[-1] == StopByte()
    assert script.time_us < 3_000_000


# A chip that restarted, and another controller


def test_a_boot_in_the_middle_of_a_session_is_told_with_its_cause():
    link, script = _linked()
    script.say(event(1, messages.Booted(wire.ResetCause.BROWN_OUT, wire.WIRE_VERSION)))
    with pytest.raises(BoardReset, match="supply voltage fell too low") as error:
        link.wait(50_000)
    assert error.value.cause is wire.ResetCause.BROWN_OUT


def test_a_boot_while_a_command_waits_for_its_answer_ends_the_wait():
    link, _ = _linked(lambda s, asked: [event(1, messages.Booted(wire.ResetCause.EXTERNAL, 1))])
    with pytest.raises(BoardReset):
        link.ask(messages.Cock())


def test_a_cannon_that_knows_nothing_of_the_session_has_restarted():
    link, _ = _linked(lambda s, asked: [reply(asked, messages.Refused(wire.Refusal.NOT_IDENTIFIED, 0))])
    with pytest.raises(BoardReset, match="knows nothing of this session"):
        link.ask(messages.Cock())


def test_an_id_that_does_not_follow_means_another_controller():
    link, _ = _linked(lambda s, asked: [reply(asked, messages.Refused(wire.Refusal.OUT_OF_SEQUENCE, 9))])
    with pytest.raises(LinkLost, match="another controller"):
        link.ask(messages.Cock())


def test_a_boot_before_the_session_is_old_news():
    script = Script(polite)
    script.say(event(0, messages.Booted(wire.ResetCause.EXTERNAL, 1)), after_us=0)
    link = Link(script, script)
    link.identify()
    assert link.wait(1_000) == []


def test_a_boot_while_a_new_session_begins_is_old_news_too():
    link, script = _linked()
    script.say(event(0, messages.Booted(wire.ResetCause.EXTERNAL, 1)), after_us=0)
    link.identify()
    assert link.beat().state is wire.State.SAFE


def test_a_new_session_counts_its_events_from_the_first_and_has_none_of_the_one_before():
    link, script = _linked()
    script.say(_moved(1), _moved(2))
    assert link.wait(200_000) == [_moved(1).message]
    link.beat()  # hears the second, which nobody asks for
    link.identify()
    assert link.wait(50_000) == []
    script.say(_moved(1), after_us=0)
    assert link.wait(50_000) == [_moved(1).message]


def test_a_new_session_reads_the_cannons_clock_anew():
    """The chip may have restarted, and then its clock shows a time that it showed before."""
    started_us = [0]

    def answer(script: Script, asked: Frame) -> Said:
        told = messages.Identity(wire.WIRE_VERSION, 1, 2, 3, 1, 1, 0, 0, script.time_us - started_us[0])
        return [reply(asked, told)]

    script = Script(answer)
    link = Link(script, script)
    before_us = link.identify().time_us
    started_us[0] = 50_000_000
    script.time_us += 50_000_000
    link.identify()
    assert link.to_host(before_us).us == pytest.approx(before_us + 50_000_000, abs=10_000)


def test_where_nobody_answers_any_more_what_was_heard_before_is_not_told():
    link, script = _linked()
    link.beat()
    script.say = lambda *saying, after_us=0: None
    with pytest.raises(NoAnswer, match="not one byte came"):
        link.identify()


# Events and heartbeats


def test_waiting_beats_often_enough_for_the_cannon_not_to_lose_heart():
    link, script = _linked()
    assert link.wait(3_000_000) == []
    beats = script.commands(wire.Command.HEARTBEAT)
    assert 3_000 / (wire.HEARTBEAT_TIMEOUT_MS / 2) < len(beats) <= 3_000 / 140


def test_waiting_ends_when_the_time_is_over_and_with_no_time_it_still_listens():
    link, script = _linked()
    begun_us = script.time_us
    assert link.wait(70_000) == []
    assert script.time_us - begun_us == 70_000
    script.say(_moved(1), after_us=0)
    assert link.wait(0) == [_moved(1).message]


def test_events_come_once_and_in_order_however_often_they_are_sent():
    link, script = _linked()
    script.say(_moved(1), _moved(1), _moved(2), _moved(1), _moved(2), _moved(3))
    seen = []
    while events := link.wait(200_000):
        seen += events
    assert seen == [_moved(n).message for n in (1, 2, 3)]


def test_an_event_that_comes_again_many_times_after_it_was_seen_is_never_new():
    link, script = _linked()
    seen = []
    for number in [1, 2] + [1] * 20 + [3]:
        script.say(_moved(number))
        seen += link.wait(20_000)
    assert seen == [_moved(n).message for n in (1, 2, 3)]


def test_an_event_ahead_of_its_turn_is_left_until_the_one_before_it_came():
    link, script = _linked()
    script.say(_moved(2))
    assert link.wait(5_000) == []
    script.say(_moved(1), _moved(2))
    seen = link.wait(5_000) + link.wait(5_000)
    assert seen == [_moved(1).message, _moved(2).message]


def test_an_event_that_was_early_once_may_be_early_as_often_when_its_number_comes_round():
    link, script = _linked()
    for _ in range(2):
        for _ in range(3):
            script.say(_moved(2))
            assert link.wait(5_000) == []
        seen = []
        for number in range(1, 257):
            script.say(_moved(number % 256))
            seen += link.wait(5_000)
        assert seen == [_moved(number % 256).message for number in range(1, 257)]


def test_events_are_acknowledged_before_the_cannon_sends_them_again():
    link, script = _linked()
    script.say(_moved(1))
    assert link.wait(200_000) == [_moved(1).message]
    begun_us = script.time_us
    link.wait(wire.EVENT_RESEND_MS * 1000 - 5_000)
    acks = [frame.message.event_ack for frame in script.commands(wire.Command.HEARTBEAT)]
    assert acks == [1]
    assert script.time_us - begun_us < wire.EVENT_RESEND_MS * 1000


def test_many_events_at_once_are_acknowledged_while_the_cannon_has_room_for_more():
    link, script = _linked()
    script.say(*(_moved(n) for n in range(1, 9)))
    begun_us, seen = script.time_us, 0
    while seen < 8:
        seen += len(link.wait(10_000))
    link.wait(1_000)
    assert script.commands(wire.Command.HEARTBEAT)[-1].message.event_ack == 8
    assert script.time_us - begun_us < 15_000


def test_an_acknowledgement_that_was_lost_is_given_again():
    link, script = _linked()
    script.say(_moved(1))
    link.wait(200_000)
    link.wait(60_000)
    script.say(_moved(1))
    assert link.wait(60_000) == []
    acks = [frame.message.event_ack for frame in script.commands(wire.Command.HEARTBEAT)]
    assert acks == [1, 1]


def test_a_count_that_goes_on_past_255_loses_nothing():
    link, script = _linked()
    seen = []
    for number in range(1, 601):
        script.say(_moved(number % 256))
        seen += link.wait(2_000)
    assert len(seen) == 600


def test_events_that_the_cannon_could_not_keep_are_told_as_missed():
    link, script = _linked()
    seen = []
    for _ in range(6):
        script.say(_moved(4))
        seen += link.wait(100_000)
    assert seen == [EventsMissed(3), _moved(4).message]
    assert link.beat() is not None
    assert script.commands(wire.Command.HEARTBEAT)[-1].message.event_ack == 4


def test_damage_is_counted_and_costs_no_more_than_itself():
    link, script = _linked()
    script.say(b"\x01\x02\x03\x04\x05\x7e", _moved(1))
    assert link.wait(100_000) == [_moved(1).message]
    assert link.damaged == 1


def test_closing_the_link_closes_the_port():
    link, script = _linked()
    link.close()
    assert script.closed
