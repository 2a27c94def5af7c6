import assert from "node:assert/strict";
import {test} from "node:test";
import {NodeWatch} from "../../../../../workers/import/follow/nodeWatch.ts";
import type {SourceEvent} from "../../../../../workers/messages/importSource.ts";

/** What a watch of two nodes reports of its state. */
function watchTwo(): {watch: NodeWatch; states: [state: string, reason?: string][]; seen: SourceEvent[]} {
  const seen: SourceEvent[] = [];
  const states: [state: string, reason?: string][] = [];
  const watch = new NodeWatch(2, event => {
    seen.push(event);
    if (event.kind === "state")
      states.push(event.reason === undefined ? [event.state] : [event.state, event.reason]);
  });
  return {watch, states, seen};
}

function noteDown(watch: NodeWatch, name: string, reason: string): void {
  watch.noteNode({kind: "node", name, state: "down", reason});
}

test("a source waits only while no node answers, and says why each one does not", () => {
  const {watch, states} = watchTwo();
  watch.set("following");
  noteDown(watch, "a", "connection refused");
  assert.deepEqual(states, [["following"]]);
  watch.noteNode({kind: "node", name: "b", state: "refused", reason: "another chain"});
  assert.deepEqual(states.slice(1), [["waiting", "a: connection refused; b: another chain"]]);
  watch.noteNode({kind: "node", name: "b", state: "up", reason: "it answers"});
  assert.deepEqual(states.slice(2), [["following"]]);
});

test("a source that is behind is reported with its newest block, and over one that does not answer", () => {
  const {watch, states} = watchTwo();
  const reason = (block: number) => `a: its newest block is ${block}, block 9 is in the store`;
  for (const block of [0, 0, 4]) watch.set("waiting", reason(block));
  for (const name of ["a", "b"]) noteDown(watch, name, "x");
  watch.noteNode({kind: "node", name: "a", state: "up", reason: "it answers"});
  const silent = ["waiting", "a: x; b: x"];
  assert.deepEqual(states, [["waiting", reason(0)], ["waiting", reason(4)], silent, ["waiting", reason(4)]]);
});

test("a state is reported once, and events of nodes are passed on", () => {
  const {watch, states, seen} = watchTwo();
  watch.set("reading");
  watch.set("reading");
  watch.set("following");
  noteDown(watch, "a", "slow");
  noteDown(watch, "a", "slower");
  assert.deepEqual(states, [["reading"], ["following"]]);
  assert.equal(seen.filter(({kind}) => kind === "node").length, 2);
});

test("what the reader says while no node answers is reported when one does", () => {
  const {watch, states} = watchTwo();
  noteDown(watch, "a", "x");
  noteDown(watch, "b", "y");
  watch.set("following");
  assert.deepEqual(states, [["reading"], ["waiting", "a: x; b: y"]]);
  watch.noteNode({kind: "node", name: "a", state: "up", reason: "it answers"});
  assert.deepEqual(states.at(-1), ["following"]);
});
