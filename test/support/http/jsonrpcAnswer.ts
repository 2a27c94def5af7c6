/** A JSON-RPC response with its id, as far as the wire tests look at it. */
import assert from "node:assert/strict";

export interface Answer {
  readonly jsonrpc: "2.0";
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: {readonly code: number; readonly message: string; readonly data?: unknown};
}

export function assertError(answer: Answer, code: number, data?: unknown): void {
  assert.deepEqual(Object.keys(answer), ["jsonrpc", "id", "error"]);
  assert.equal(answer.error?.code, code, JSON.stringify(answer));
  assert.deepEqual(answer.error?.data, data);
}
