import assert from "node:assert/strict";
import {test} from "node:test";
import {NodeFailure, NodeRefusal} from "../../../../nodes/rpc/node.ts";
import {toNodeError} from "../../../../nodes/rpc/nodeError.ts";

function convert(code: number, message: string) {
  return toNodeError({code, message, data: [1]}, "eth_getLogs", "http://node:1", text => text);
}

test("errors that ask to come later are failures", () => {
  const table: [number, string][] = [
    [-32005, "limit exceeded"],
    [-32005, "daily request count exceeded, request rate limited"],
    [-32005, "too many calls wait here"],
    [-32002, "request timed out"],
    [429, "Your app has exceeded its compute units per second capacity"],
    [-32000, "Too Many Requests"],
  ];
  for (const [code, message] of table) {
    const error = convert(code, message);
    assert.ok(error instanceof NodeFailure, message);
    assert.equal(error.message, `it asks to try eth_getLogs later: ${message} (${code})`);
  }
});

test("other errors are refusals, also of a result that would be too long", () => {
  const table: [number, string][] = [
    [-32005, "query returned more than 10000 results"],
    [-32005, "block range is too wide"],
    [-32601, "the method does not exist"],
    [-32602, "invalid argument 0"],
    [-32000, "header not found"],
  ];
  for (const [code, message] of table) {
    const error = convert(code, message);
    assert.ok(error instanceof NodeRefusal, message);
    assert.equal(error.code, code);
    assert.equal(error.isCallError, code === -32601 || code === -32602);
    assert.equal(error.message, `http://node:1 refuses eth_getLogs: ${message} (${code})`);
  }
});

test("an internal error that says that a range of logs is too large is a refusal", () => {
  assert.ok(convert(-32603, "block range is too large") instanceof NodeRefusal);
});
