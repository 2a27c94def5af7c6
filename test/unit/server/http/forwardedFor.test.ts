/** Whom X-Forwarded-For is believed about. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {addressText} from "../../../../server/http/clientAddress.ts";
import {TrustedProxies} from "../../../../server/http/forwardedFor.ts";

const PROXIES = new TrustedProxies(["10.0.0.0/8", "fd00::/16", "127.0.0.1"]);

/** @param lines - of the header */
function find(connection: string, ...lines: readonly string[]): string | undefined {
  const headers = lines.map(value => ["x-forwarded-for", value] as const);
  return PROXIES.findClient(
    {getRemoteAddress: () => connection},
    {
      forEach: take => {
        for (const [name, value] of [["host", "1.1.1.1"] as const, ...headers]) take(name, value);
      },
    },
  );
}

test("the last address that no trusted proxy has is the client, however the header is spread over lines", () => {
  const client = "203.0.113.7";
  assert.equal(find("10.0.0.1", client), client);
  assert.equal(find("::ffff:10.0.0.1", `9.9.9.9, ${client},10.0.0.2`), client);
  assert.equal(find("10.0.0.1", "9.9.9.9", `${client}, fd00::5`), client);
  assert.equal(find("127.0.0.1", "2001:db8::1"), "2001:db8::1");
});

test("nobody else is believed, and where no proxy names a client the connection is one", () => {
  assert.equal(find("192.0.2.1", "203.0.113.7"), undefined);
  assert.equal(find("10.0.0.1"), undefined);
  for (const text of ["unknown", "", "203.0.113.7:80", "1.2.3", "203.0.113.7, x"])
    assert.equal(find("10.0.0.1", text), undefined, text);
  assert.equal(find("10.0.0.1", "x, 10.0.0.3"), "10.0.0.3");
  // The 17th address from the end is not looked at.
  assert.equal(find("10.0.0.1", `203.0.113.7${", 10.0.0.9".repeat(16)}`), "10.0.0.9");
});

test("an address has one text", () => {
  const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex")).buffer;
  assert.equal(addressText(bytes("7f000001")), "127.0.0.1");
  assert.equal(addressText(bytes("00000000000000000000ffff7f000001")), "127.0.0.1");
  assert.equal(addressText(bytes("20010db8000000000000000000000001")), "2001:db8::1");
  assert.equal(addressText("fe80:0::1%eth0"), "fe80::1");
});
