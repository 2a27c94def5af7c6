import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {pino} from "pino";
import {Answering} from "../../../../server/dispatch/answering.ts";
import type {PendingRequest} from "../../../../server/dispatch/pendingRequest.ts";
import {cutSegments, type Segment} from "../../../../server/dispatch/segment.ts";
import {CallTally} from "../../../../server/observe/callTally.ts";
import {TroubleLog} from "../../../../server/observe/troubleLog.ts";
import {callsOf, LANE_IDS, type RequestCalls} from "../../../../server/request/requestCalls.ts";
import {type Piece, type TaskAnswers, TaskText} from "../../../../server/request/taskText.ts";
import {encodeError, RpcCode, RpcError} from "../../../../server/rpc/rpcError.ts";
import {createRequest, createRequestCalls, IDLE_ESTIMATE, idsOf} from "../../../support/http/requestCalls.ts";

const answering = new Answering(new CallTally([]), new TroubleLog(pino({level: "silent"})));
const ERROR = new RpcError(RpcCode.EXECUTION_FAILED, "out of gas");

const described = fc
  .array(fc.oneof(fc.nat(100), fc.constant(IDLE_ESTIMATE), fc.constantFrom("[1]", "[2]")), {
    minLength: 1,
    maxLength: 300,
  })
  .filter(list => list.some(call => typeof call !== "string"));

/** Answers as a task would bring them: `base` of other requests, then the segment's, of which some failed. */
function createAnswers(calls: RequestCalls, segment: Segment, base: number, fails: (id: string) => boolean) {
  let text = "";
  const ends: number[] = [];
  const failures: TaskAnswers["failures"][number][] = [];
  for (let other = 0; other < base; other++) {
    text += "<other>,";
    ends.push(text.length);
  }
  for (const id of idsOf(calls, segment.lane).slice(segment.firstCall, segment.endCall)) {
    if (!fails(id)) text += `<${id}>,`;
    else failures.push({call: ends.length, failure: "EXECUTION_FAILED", detail: ERROR.message});
    ends.push(text.length);
  }
  const bytes = Buffer.from(text);
  return {text: new TaskText(bytes), answers: {text: bytes, ends: Uint32Array.from(ends), failures}};
}

/** What the whole request is answered, place by place, each followed by a comma. */
function expectAnswers(calls: RequestCalls, fails: (id: string) => boolean): string {
  const next: [number, number, number] = [0, 0, 0];
  const texts = calls.places.map(place => {
    if (typeof place === "string") return `${place},`;
    const id = idsOf(calls, place.lane)[next[place.lane]++] as string;
    return fails(id) ? `${encodeError(id, ERROR)},` : `<${id}>,`;
  });
  return texts.join("");
}

function assemble(request: PendingRequest, segment: Segment, base: number, fails: (id: string) => boolean) {
  return answering.assemble(request, segment, createAnswers(request.calls, segment, base, fails), base);
}

function join(pieces: readonly Piece[]): string {
  return Buffer.concat(pieces.map(piece => piece.bytes)).toString();
}

test("segments cover every place and call once, in order, and exceed a task's cost with one call only", () => {
  fc.assert(
    fc.property(described, list => {
      const calls = createRequestCalls(list);
      let place = 0;
      const next: [number, number, number] = [0, 0, 0];
      for (const segment of cutSegments(calls)) {
        const {lane} = segment;
        assert.equal(segment.firstPlace, place);
        assert.equal(segment.firstCall, next[lane]);
        assert.ok(segment.endCall > segment.firstCall);
        for (const one of calls.places.slice(segment.firstPlace, segment.endPlace))
          assert.ok(typeof one === "string" || one.lane === lane);
        let cost = 0;
        for (; next[lane] < segment.endCall; next[lane]++) cost += callsOf(calls, lane).costOf(next[lane]);
        assert.equal(segment.cost, cost);
        assert.ok(cost <= callsOf(calls, lane).segmentCost || segment.endCall === segment.firstCall + 1);
        place = segment.endPlace;
      }
      assert.equal(place, list.length);
      for (const lane of LANE_IDS) assert.equal(next[lane], idsOf(calls, lane).length);
    }),
  );
});

test("answers, failures and ready texts come out in request order, whatever the task held before them", () => {
  fc.assert(
    fc.property(described, fc.nat(3), fc.func(fc.boolean()), (list, base, fails) => {
      const calls = createRequestCalls(list);
      const {request} = createRequest(calls);
      const pieces = request.segments.flatMap(segment => assemble(request, segment, base, fails));
      assert.equal(join(pieces), expectAnswers(calls, fails));
    }),
  );
});

test("a request is answered in its own order, whatever order its segments are answered in", () => {
  fc.assert(
    fc.property(described, fc.boolean(), fc.infiniteStream(fc.nat()), (list, isBatch, order) => {
      const calls = createRequestCalls(list);
      const {request, reply} = createRequest(calls, {isBatch});
      const waiting = [...request.segments];
      while (waiting.length > 0) {
        assert.equal(reply.isFinished, false);
        const [segment] = waiting.splice((order.next().value as number) % waiting.length, 1) as [Segment];
        request.answer(
          segment,
          assemble(request, segment, 0, () => false),
        );
      }
      assert.ok(request.ordered.isComplete && reply.isFinished);
      const wanted = expectAnswers(calls, () => false).slice(0, -1);
      assert.equal(reply.text, isBatch ? `[${wanted}]` : wanted);
      for (const {remainingCost, asideBytes} of request.progress)
        assert.deepEqual([remainingCost, asideBytes], [0, 0]);
    }),
  );
});

test("neighbouring answers stay one piece that shares the worker's memory", () => {
  const calls = createRequestCalls([0, 0, 0]);
  const text = Buffer.from("a,b,c,");
  const answers = {text, ends: Uint32Array.of(2, 4, 6), failures: []};
  const {request} = createRequest(calls);
  const [segment] = request.segments as [Segment];
  const pieces = answering.assemble(request, segment, {text: new TaskText(text), answers}, 0);
  assert.equal(pieces.length, 1);
  assert.equal(pieces[0]?.bytes.buffer, text.buffer);
});

test("a segment that nobody answered has an error for each call and its ready texts", () => {
  const calls = createRequestCalls([1, "ready", 2, IDLE_ESTIMATE, "last"]);
  const {request} = createRequest(calls);
  const texts = request.segments.map(segment => join(answering.assembleErrors(request, segment, ERROR)));
  const [p0, p1, e0] = ["p0", "p1", "e0"].map(id => encodeError(id, ERROR));
  assert.deepEqual(texts, [`${p0},ready,${p1},`, `${e0},last,`]);
});
