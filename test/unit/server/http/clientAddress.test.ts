import assert from "node:assert/strict";
import {test} from "node:test";
import {Clients} from "../../../../server/http/clientAddress.ts";

const clientOf = (address: string) => new Clients().of(address);

function client(hex: string): string {
  return new Clients().of(new Uint8Array(Buffer.from(hex, "hex")).buffer);
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

test("many IPv6 networks of one of 48 bits are one client, for a minute or two", t => {
  let nowMs = 1000;
  t.mock.method(performance, "now", () => nowMs);
  const clients = new Clients();
  const ask = (site: number, network: number) => clients.of(`2001:db8:${site}:${network}::1`);
  const first = Array.from({length: 15}, (_, network) => ask(1, network));
  assert.equal(new Set(first).size, first.length);
  const one = ask(1, 99);
  assert.deepEqual([ask(1, 0), ask(1, 1)], [one, one]);
  assert.notEqual(ask(2, 0), ask(2, 1));
  nowMs += 61_000;
  assert.equal(ask(1, 0), one);
  nowMs += 61_000;
  assert.notEqual(ask(1, 0), one);
  assert.notEqual(ask(1, 0), ask(1, 1));
});
