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

test("an address as text is the client that its bytes are", () => {
  assert.equal(clientOf("127.0.0.2"), client("7f000002"));
  assert.equal(clientOf("::ffff:127.0.0.2"), client("7f000002"));
  for (const [text, hex] of [
    ["::1", "00000000000000000000000000000001"],
    ["2001:db8:1:2::1", "20010db8000100020000000000000001"],
    ["2001:db8::", "20010db8000000000000000000000000"],
    ["fe80::a:b%eth0", "fe8000000000000000000000000a000b"],
    ["1:2:3:4:5:6:7:8", "00010002000300040005000600070008"],
  ] as const)
    assert.equal(clientOf(text), client(hex), text);
});

test("an IPv6 network of 64 bits is a client, whatever its addresses", () => {
  const network = "20010db800010002";
  assert.equal(client(`${network}0000000000000001`), client(`${network}ffffffffffffffff`));
  assert.notEqual(client(`${network}0000000000000001`), client("20010db8000100030000000000000001"));
});
