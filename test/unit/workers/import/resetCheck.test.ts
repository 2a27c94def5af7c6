import assert from "node:assert/strict";
import {test} from "node:test";
import {AccountDifferences} from "../../../../storage/block/accountDifferences.ts";
import type {BlockHeader} from "../../../../storage/block/blockDifference.ts";
import {decodeHeader, HEADER_ITEMS} from "../../../../storage/block/headerRlp.ts";
import {encodeList} from "../../../../storage/rlp/rlpWriter.ts";
import {findOpenResets, requireSameResets} from "../../../../workers/import/resetCheck.ts";

const address = new Uint8Array(20).fill(0xaa);
const name = `0x${"aa".repeat(20)}`;

/** @param last - the name of its last field */
function headerTo(last: string): BlockHeader {
  const items = HEADER_ITEMS.slice(0, 1 + HEADER_ITEMS.findIndex(item => item.name === last));
  return decodeHeader(encodeList(items.map(({bytes = 0}) => new Uint8Array(bytes))));
}

const SHANGHAI = headerTo("withdrawalsRoot");
const CANCUN = headerTo("parentBeaconBlockRoot");

/** What is said of an account with these parts before the block. */
function judge(header: BlockHeader, nonce: boolean, code: boolean, isSaid = true): unknown {
  const reset = {address, hasNonce: nonce, hasCode: code, isSaid};
  try {
    return findOpenResets([reset], header, "the trace")[0] === name ? "open" : undefined;
  } catch (error) {
    return (error as Error).message.slice(`block 0: account ${name}: the trace `.length).split(". ")[0];
  }
}

test("the state before a block and its fork show which accounts cannot have been made again", () => {
  const noCode = "says that it was removed and made again, but it has no code and a nonce above 0";
  const stays = "says that it was removed and made again, but since Cancun (EIP-6780) a contract stays";
  for (const header of [SHANGHAI, headerTo("excessBlobGas"), CANCUN, headerTo("slotNumber")]) {
    const isCancun =
      header === CANCUN || (header !== SHANGHAI && (header.rest?.length ?? 0) > (CANCUN.rest?.length ?? 0));
    assert.equal(judge(header, false, false), "open");
    assert.equal(judge(header, true, false), noCode);
    assert.equal(judge(header, true, true), isCancun ? stays : "open");
    assert.equal(judge(header, false, true), isCancun ? stays : "open");
    const falls = "lowers its nonce, and does not say that it was removed and made again";
    assert.equal(judge(header, true, true, false), falls);
  }
});

test("another node must say so too", () => {
  const accounts = new AccountDifferences();
  accounts.add({address, change: {reset: true, balance: 1n}});
  accounts.add({address: new Uint8Array(20), change: {balance: 1n}});
  const other = {header: CANCUN, accounts};
  requireSameResets([name], other, "the trace");
  assert.throws(
    () => requireSameResets([name, `0x${"00".repeat(20)}`], other, "the trace"),
    /^SourceError: block 0: account 0x00.*: the trace says that it was removed and made again, and another node does not/,
  );
});
