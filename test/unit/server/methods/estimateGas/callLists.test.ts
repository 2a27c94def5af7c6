import assert from "node:assert/strict";
import {test} from "node:test";
import type {Authorization} from "../../../../../workers/job/estimateCall.ts";
import {
  ADDRESS,
  ADDRESS_BYTES,
  AUTHORIZATION,
  assertCallsRefused,
  createWord,
  parseCall,
} from "../../../../support/estimates/estimateCalls.ts";
import {packWords} from "../../../../support/estimates/packedWords.ts";

test("an access list is addresses with their storage keys", () => {
  const accessList = [
    {address: ADDRESS, storageKeys: ["0x1", `0x${"0".repeat(63)}2`]},
    {address: ADDRESS, other: 1},
  ];
  assert.deepEqual(parseCall({accessList}).accessList, [
    {address: ADDRESS_BYTES, storageKeys: packWords([createWord(1), createWord(2)])},
    {address: ADDRESS_BYTES, storageKeys: new Uint8Array(0)},
  ]);
  const good = {address: ADDRESS, storageKeys: ["0x1"]};
  const listed = (entry: unknown) => ({accessList: [good, good, entry]});
  assertCallsRefused([
    [
      {accessList: {}},
      /^params\[0\]\.accessList is an object: expected an array of \{address, storageKeys\}/,
    ],
    [{accessList: "0x"}, /^params\[0\]\.accessList is "0x"/],
    [listed(ADDRESS), /^params\[0\]\.accessList\[2\] is "0xAb.*: expected \{address, storageKeys\}/],
    [listed(null), /^params\[0\]\.accessList\[2\] is null/],
    [listed({}), /^params\[0\]\.accessList\[2\]\.address is missing: expected 20 bytes/],
    [
      listed({address: ADDRESS, storageKeys: "0x1"}),
      /accessList\[2\]\.storageKeys is "0x1": expected an array/,
    ],
    [
      listed({address: ADDRESS, storageKeys: ["0x"]}),
      /^params\[0\]\.accessList\[2\]\.storageKeys\[0\] is "0x": exp/,
    ],
    [
      listed({address: ADDRESS, storageKeys: ["0x1", 2]}),
      /accessList\[2\]\.storageKeys\[1\] is 2: expected 0x and/,
    ],
    [
      listed({address: ADDRESS, storageKeys: [`0x${"1".repeat(65)}`]}),
      /storageKeys\[0\] is "0x1+"\.\.\. \(67/,
    ],
  ]);
});

test("authorizations are read whole, with yParity or with v", () => {
  const expected: Authorization = {chainId: 1n, address: ADDRESS_BYTES, nonce: 2n, yParity: 1n, r: 3n, s: 4n};
  const table = [{}, {v: 28}, {v: "0x1"}, {v: 28, yParity: null}, {v: 1, yParity: null}, {v: null}];
  for (const change of table) {
    const authorizationList = [{...AUTHORIZATION, ...change}];
    assert.deepEqual(parseCall({to: ADDRESS, authorizationList}).authorizationList, [expected]);
  }
  const authorized = (change: object) => ({
    to: ADDRESS,
    authorizationList: [AUTHORIZATION, {...AUTHORIZATION, ...change}],
  });
  assertCallsRefused([
    [
      {to: ADDRESS, authorizationList: []},
      /^params\[0\]\.authorizationList is an array of 0: expected a non-empty/,
    ],
    [{to: ADDRESS, authorizationList: {}}, /^params\[0\]\.authorizationList is an object/],
    [{to: ADDRESS, authorizationList: [1]}, /^params\[0\]\.authorizationList\[0\] is 1: expected \{chainId/],
    [authorized({chainId: null}), /^params\[0\]\.authorizationList\[1\]\.chainId is missing: expected/],
    [authorized({address: "0x"}), /authorizationList\[1\]\.address is "0x"/],
    [authorized({yParity: null}), /authorizationList\[1\]\.yParity is missing/],
    [authorized({v: 27}), /authorizationList\[1\]\.v is 27: expected the same as yParity/],
    [authorized({r: -1}), /authorizationList\[1\]\.r is -1/],
    [authorized({s: "s"}), /authorizationList\[1\]\.s is "s"/],
  ]);
});
