/** Requests to the consensus layer: deposits in logs, and the hash over all of them. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {test} from "node:test";
import {genRequestsRoot} from "@ethereumjs/block";
import {CLRequest, CLRequestType} from "@ethereumjs/util";
import {BlockMismatch} from "../../../../../evm/execution/executionError.ts";
import {hashRequests, readDeposits} from "../../../../../evm/execution/run/requests.ts";

const CONTRACT = new Uint8Array(20).fill(3);
const EVENT = Buffer.from("649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5", "hex");
/** As Solidity encodes five byte strings: where each begins, then its length and its bytes. */
const LENGTHS = [48, 32, 8, 96, 8];
const STARTS = [160, 256, 320, 384, 512];

function depositLog(): Buffer {
  const log = Buffer.alloc(576);
  for (const [at, start] of STARTS.entries()) {
    log.writeUInt32BE(start, 32 * at + 28);
    log.writeUInt32BE(LENGTHS[at] as number, start + 28);
    log.fill(at + 1, start + 32, start + 32 + (LENGTHS[at] as number));
  }
  return log;
}

const logOf = (data: Uint8Array, address = CONTRACT, event: Uint8Array = EVENT) => ({
  address,
  topics: [event],
  data,
});

test("a deposit is its five fields, and logs of others are left out", () => {
  const deposit = Buffer.concat(LENGTHS.map((length, at) => Buffer.alloc(length, at + 1)));
  const others = [
    logOf(depositLog(), new Uint8Array(20)),
    logOf(depositLog(), CONTRACT, new Uint8Array(32)),
    {...logOf(depositLog()), topics: []},
  ];
  const logs = [logOf(depositLog()), ...others, logOf(depositLog())];
  assert.deepEqual(readDeposits(logs, CONTRACT), Buffer.concat([deposit, deposit]));
  assert.equal(readDeposits(others, CONTRACT).length, 0);
});

test("a deposit of another form makes the block invalid", () => {
  const words = [...STARTS.map((_, at) => 32 * at), ...STARTS];
  const bad = words.flatMap(at =>
    [at, at + 31].map(byte => {
      const log = depositLog();
      log[byte] = (log[byte] as number) ^ 1;
      return log;
    }),
  );
  for (const data of [...bad, depositLog().subarray(1), Buffer.alloc(608), Buffer.alloc(0)])
    assert.throws(() => readDeposits([logOf(data)], CONTRACT), BlockMismatch);
});

test("the hash of requests is the library's, and empty ones do not count", () => {
  const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest());
  const kinds = [CLRequestType.Deposit, CLRequestType.Withdrawal, CLRequestType.Consolidation];
  for (const sizes of [[], [0, 0, 0], [192, 0, 0], [0, 76, 0], [0, 0, 116], [384, 76, 232]]) {
    const requests = sizes.map((size, at) => new Uint8Array(size).fill(at + 5));
    const library = requests.map((bytes, at) => new CLRequest(kinds[at] as CLRequestType, bytes));
    assert.deepEqual(new Uint8Array(hashRequests(requests)), genRequestsRoot(library, sha256));
  }
});
