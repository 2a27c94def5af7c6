/** Which accounts a load asks for. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {readDemo} from "../../../../cli/flags/demoAccounts.ts";
import {parseKeys} from "../../../../cli/flags/keyLines.ts";

const ADDRESS = `0x${"aB".repeat(20)}`;

test("a file names an account per line, with its slots; comments and empty lines are none", () => {
  const text = `# accounts\n\n${ADDRESS} 0x1\t0xFF # two slots\r\n  0x${"01".repeat(20)}\n`;
  assert.deepEqual(parseKeys(text), [
    {address: ADDRESS.toLowerCase(), slots: [`0x${"1".padStart(64, "0")}`, `0x${"ff".padStart(64, "0")}`]},
    {address: `0x${"01".repeat(20)}`, slots: []},
  ]);
});

test("a bad line is named with its number and what is expected", () => {
  assert.throws(
    () => parseKeys(`${ADDRESS}\n0x12\n`),
    /line 2: expected an address \(0x and 40 hex digits\), got '0x12'/,
  );
  assert.throws(
    () => parseKeys(`${ADDRESS} 12`),
    /line 1: expected a slot \(0x and 1 to 64 hex digits\), got '12'/,
  );
  assert.throws(() => parseKeys(`${ADDRESS} 0x${"1".repeat(65)}`), /line 1: expected a slot/);
  assert.throws(
    () => parseKeys(`${"x".repeat(1000)}`),
    error => (error as Error).message.length < 200,
  );
  assert.throws(() => parseKeys("# nobody"), /it has no account/);
});

test("the demo chain's accounts are its genesis and its two contracts with slots", () => {
  const {chainId, accounts} = readDemo();
  const genesis = JSON.parse(
    readFileSync(new URL(import.meta.resolve("#package/demo/genesis.json")), "utf8"),
  );
  assert.equal(accounts.length, Object.keys(genesis.alloc).length + 2);
  assert.equal(chainId, genesis.config.chainId);
  assert.equal(accounts.at(-1)?.slots.length, 1000);
  for (const {address, slots} of accounts) {
    assert.match(address, /^0x[0-9a-f]{40}$/);
    for (const slot of slots) assert.match(slot, /^0x[0-9a-f]{64}$/);
  }
});
