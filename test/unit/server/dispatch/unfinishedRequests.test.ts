/** The list of the requests that are not answered yet. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import type {PendingRequest} from "../../../../server/dispatch/pendingRequest.ts";
import {UnfinishedRequests} from "../../../../server/dispatch/unfinishedRequests.ts";
import type {CollectedReply} from "../../../support/http/collectedReply.ts";
import {DrivenDispatcher, settle} from "../../../support/http/drivenDispatcher.ts";
import {createRequest, createRequestCalls} from "../../../support/http/requestCalls.ts";

/** Later than the deadline of every request here. */
const LATER_MS = Number.POSITIVE_INFINITY;
/** Few, so that most steps add or delete one that was deleted or added before. */
const REQUESTS = 8;

test("the list has the requests that were added and not deleted, after any additions and deletions", () => {
  const step = fc.tuple(fc.boolean(), fc.nat({max: REQUESTS - 1}));
  fc.assert(
    fc.property(fc.array(step, {maxLength: 60, size: "max"}), steps => {
      const requests = Array.from(
        {length: REQUESTS},
        (_, at) => createRequest(createRequestCalls([1]), {id: `${at}`}).request,
      );
      const list = new UnfinishedRequests();
      const expected = new Set<PendingRequest>();
      for (const [isAdded, at] of steps) {
        const request = requests[at] as PendingRequest;
        if (!isAdded) list.delete(request);
        else if (!expected.has(request)) list.add(request);
        if (isAdded) expected.add(request);
        else expected.delete(request);
        assert.deepEqual(idsOf(list.listOverdue(LATER_MS)), idsOf([...expected]));
      }
    }),
  );
});

test("a request whose client goes away while another one expires is not answered", async () => {
  const timeoutMs = 60;
  const driven = new DrivenDispatcher({timeoutMs});
  const replies = [driven.admit([driven.estimate]), driven.admit([driven.estimate])] as const;
  await settle();
  // The first one to expire makes the other one's client go.
  const answered: CollectedReply[] = [];
  for (const reply of replies) {
    const finish = reply.finish.bind(reply);
    reply.finish = pieces => {
      answered.push(reply);
      finish(pieces);
      for (const other of replies) if (other !== reply) other.close();
    };
  }
  driven.pass(timeoutMs);
  assert.equal(answered.length, 1);
  assert.match((answered[0] as CollectedReply).text, /"code":-32005/);
  assert.deepEqual(replies.map(reply => reply.isClosed).sort(), [false, true]);
  driven.close();
});

function idsOf(requests: readonly PendingRequest[]): string[] {
  return requests.map(({record}) => record.id).sort();
}
