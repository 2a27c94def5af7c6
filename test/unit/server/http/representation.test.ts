import assert from "node:assert/strict";
import {test} from "node:test";
import {acceptsBytes} from "../../../../server/http/representation.ts";

test("bytes are accepted where the header names their type, alone or in a list, in any case", () => {
  for (const accept of [
    "application/octet-stream",
    "Application/Octet-Stream",
    "application/json, application/octet-stream;q=0.9",
    " application/octet-stream ; q=1,*/*",
  ])
    assert.equal(acceptsBytes(accept), true, accept);
});

test("bytes are not accepted without the header, by a wildcard, or by another type", () => {
  for (const accept of [
    "",
    "*/*",
    "application/*, application/json;q=0.5",
    "application/octet-stream2",
    "text/plain,x",
  ])
    assert.equal(acceptsBytes(accept), false, accept);
});

test("bytes with a weight of zero are refused bytes, and other weights are not", () => {
  const accepted = (weight: string) =>
    acceptsBytes(`application/json, application/octet-stream; q=${weight}`);
  for (const weight of ["0", "0.", "0.0", "0.000"]) assert.equal(accepted(weight), false, weight);
  for (const weight of ["1", "0.1", "0.001"]) assert.equal(accepted(weight), true, weight);
});
