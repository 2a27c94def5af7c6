import assert from "node:assert/strict";
import {test} from "node:test";
import {clientOf} from "../../../../server/http/clientAddress.ts";

function client(hex: string): string {
  return clientOf(new Uint8Array(Buffer.from(hex, "hex")).buffer);
}

test("an IPv4 address is a client, also where it comes mapped to IPv6", () => {
  assert.equal(client("7f000001"), client("00000000000000000000ffff7f000001"));
  assert.notEqual(client("7f000001"), client("7f000002"));
  assert.notEqual(client("00000000000000000000ffff7f000001"), client("00000000000000000000ffff7f000002"));
});

test("an IPv6 network of 64 bits is a client, whatever its addresses", () => {
  const network = "20010db800010002";
  assert.equal(client(`${network}0000000000000001`), client(`${network}ffffffffffffffff`));
  assert.notEqual(client(`${network}0000000000000001`), client("20010db8000100030000000000000001"));
});
