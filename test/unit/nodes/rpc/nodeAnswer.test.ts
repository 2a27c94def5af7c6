import assert from "node:assert/strict";
import {test} from "node:test";
import {NodeFailure} from "../../../../nodes/rpc/node.ts";
import {parseBatchAnswer} from "../../../../nodes/rpc/nodeAnswer.ts";

const RESULT = {member: "result", result: "0x1"};

/** An answer to a batch of the calls 7 and 8. */
function parseBatch(text: string) {
  return parseBatchAnswer(Buffer.from(text), 7, 2);
}

function refuses(parse: () => unknown, message: RegExp): void {
  assert.throws(parse, error => error instanceof NodeFailure && message.test(error.message));
}

test("the answers of a batch come in the order of the calls", () => {
  const answers = parseBatch(
    '[{"jsonrpc":"2.0","id":8,"error":{"code":3,"message":"no"}},{"jsonrpc":"2.0","id":7,"result":"0x1"}]',
  );
  const error = {code: 3, message: "no", data: undefined};
  assert.deepEqual(answers, [RESULT, {member: "error", error}]);
});

test("a batch with a missing, second or foreign answer is a failure", () => {
  const answer = (id: unknown) => ({jsonrpc: "2.0", id, result: 1});
  const table: [unknown, RegExp][] = [
    [[], /batch of 2 calls has 0 elements$/],
    [[answer(7)], /has 1 elements$/],
    [[answer(7), answer(8), answer(9)], /has 3 elements$/],
    [[answer(7), answer(7)], /an id twice$/],
    [[answer(7), answer(9)], /another request's id$/],
    [[answer(7), answer(6)], /another request's id$/],
    [[answer(7), answer(7.5)], /another request's id$/],
    [[answer(7), answer(null)], /another request's id$/],
    [[answer(7), null], /not JSON-RPC 2\.0$/],
    [answer(7), /no array$/],
  ];
  for (const [value, message] of table) refuses(() => parseBatch(JSON.stringify(value)), message);
});

test("one error may answer a whole batch", () => {
  const error = {code: -32600, message: "no batches", data: undefined};
  assert.deepEqual(parseBatch(JSON.stringify({jsonrpc: "2.0", id: null, error})), error);
  // As geth answers more calls than --rpc.batch-request-limit.
  const tooMany = {code: -32600, message: "batch too large", data: undefined};
  assert.deepEqual(parseBatch(JSON.stringify([{jsonrpc: "2.0", id: 7, error: tooMany}])), tooMany);
});
