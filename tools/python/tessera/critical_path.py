"""The critical path of a trace: from its end back to its begin, each time to what was waited for and came last."""
from bisect import bisect_left
from itertools import islice

REDUCTION, LATE, MESSAGE, BETWEEN = "(reduction)", "(ready, not started)", "(message)", "(between steps)"


class PathWalk:
    """Walks back once. Time only goes back on the way, so no moment counts twice; the rules are those of
    `tessera trace summary`."""

    def __init__(self, trace):
        self.ranks = trace.ranks
        self.numbers = {rank: list(found.runs) for rank, found in self.ranks.items()}  # of runs, in order
        self.first = min(next(iter(rank.runs.values())).begin for rank in self.ranks.values())
        self.times, self.sends, self.last_to_join, self.last_to_begin = {}, {}, {}, {}
        self.steps_left, self.goes_on = 0, True
        for number, rank in self.ranks.items():
            for run_number, run in rank.runs.items():
                self._note(number, run_number, run)

    def _note(self, rank, number, run):
        known = self.last_to_begin.setdefault(number, rank)
        if run.begin > self.ranks[known].runs[number].begin:
            self.last_to_begin[number] = rank
        self.steps_left += len(run.nodes) + 2
        for key in sorted(run.nodes):
            node = run.nodes[key]
            if node.kind == "send":
                self.sends[(number, rank, node.peer, node.tag)] = node
            if node.kind == "reduce":
                last = self.last_to_join.setdefault((number, node.item), (rank, number, node))
                if node.end > last[2].end:
                    self.last_to_join[(number, node.item)] = (rank, number, node)

    def walk(self):
        last = max(self.ranks, key=lambda number: list(self.ranks[number].runs.values())[-1].end)
        self.rank, self.number, self.node = last, list(self.ranks[last].runs)[-1], None
        self.until = self._run().end
        self._from_end()
        while self.goes_on and self.steps_left > 0:
            self.steps_left -= 1
            if self.node is not None:
                self._from_node()
            else:
                self._from_begin()
        return self.times

    def _run(self):
        return self.ranks[self.rank].runs[self.number]

    def _before(self, number):
        """Numbers of the rank's earlier runs, the newest first."""
        numbers = self.numbers[self.rank]
        return (numbers[n] for n in range(bisect_left(numbers, number) - 1, -1, -1))

    def _spend(self, name, begin):
        begin = max(begin, self.first)
        if begin < self.until:
            self.times[name] = self.times.get(name, 0) + self.until - begin
            self.until = begin

    def _from_end(self):
        run = self._run()
        # What all ranks combine with a step is there when the last of them has begun it.
        last_rank = self.last_to_begin[self.number]
        last_begin = self.ranks[last_rank].runs[self.number].begin
        self._spend(REDUCTION, max(run.executed, last_begin))
        self.node = None
        if last_begin > run.executed:
            self.rank = last_rank
            return
        for key in sorted(run.nodes):
            node = run.nodes[key]
            if node.done <= run.executed and (self.node is None or node.done > self.node.done):
                self.node = node
        if self.node is not None:
            self._spend(LATE, self.node.done)

    def _from_node(self):
        if self.node.kind == "receive":
            self._from_receive()
        elif self.node.kind == "reduce":
            place = self.last_to_join[(self.number, self.node.item)]
            self._spend(REDUCTION, place[2].end)
            self.rank, self.number, self.node = place
        elif self.node.kind == "send":
            self._spend(MESSAGE, self.node.end)
        node = self.node
        if node.worker >= 0:
            self._spend(node.name, node.begin)
        self._spend(LATE, node.ready)
        if node.after == -2 and self._to_length_of_step():
            return
        self.node = self._run().nodes.get(node.after)

    def _from_receive(self):
        receive = self.node
        send = self.sends.get((self.number, receive.peer, self.rank, receive.tag))
        if send is None or send.end <= receive.begin:
            self._spend(MESSAGE, receive.begin)
            return
        self._spend(MESSAGE, send.end)
        self.rank, self.node = receive.peer, send

    def _to_length_of_step(self):
        """To the reduction of an earlier run that was the last to be there before the node was ready."""
        plan, found = self._run().plan, None
        for number in self._before(self.number):
            run = self.ranks[self.rank].runs[number]
            for key in sorted(run.nodes):
                node = run.nodes[key]
                if node.kind == "reduce" and node.done <= self.node.ready and (found is None or node.done > found[1].done):
                    found = (number, node)
            if run.plan == plan:
                break
        if found is not None:
            self.number, self.node = found
        return found is not None

    def _from_begin(self):
        self._spend(BETWEEN, self._run().begin)
        earlier = next(self._before(self.number), None)
        self.goes_on = earlier is not None
        if earlier is None:
            return
        before = self.ranks[self.rank].runs[earlier]
        if self._to_reduction_seen_since(before.end):
            return
        self._spend("(output)", self.until - self.ranks[self.rank].spans.time_in(before.end, self.until))
        self._spend(BETWEEN, before.end)
        self.number = earlier
        self._from_end()

    def _to_reduction_seen_since(self, end):
        """A reduction that was seen to be there after the last output was waited for."""
        written = self.ranks[self.rank].spans.end_before(self.until)
        wait_from, seen = end if written is None else max(end, written), None
        for number in islice(self._before(self.number), 3):
            nodes = self.ranks[self.rank].runs[number].nodes
            for key in sorted(nodes):
                node = nodes[key]
                if node.kind == "reduce" and wait_from < node.done <= self.until and (
                        seen is None or node.done > seen[1].done):
                    seen = (number, node)
        if seen is None:
            return False
        self._spend(BETWEEN, seen[1].done)
        to_other = self.last_to_join[(seen[0], seen[1].item)][2].end > wait_from
        if to_other:
            self.number, self.node = seen
        else:
            self._spend(REDUCTION, wait_from)
        return to_other
