import assert from "node:assert/strict";
import {test} from "node:test";
import type {Authorization} from "../../../../../workers/messages/estimateCall.ts";
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
      /^params\[0\]\.accessList: expected an array of \{address, storageKeys\}, got an object/,
    ],
    [{accessList: "0x"}, /^params\[0\]\.accessList: expected .*, got "0x"/],
    [listed(ADDRESS), /^params\[0\]\.accessList\[2\]: expected \{address, storageKeys\}, got "0xAb.*/],
    [listed(null), /^params\[0\]\.accessList\[2\]: expected .*, got null/],
    [listed({}), /^params\[0\]\.accessList\[2\]\.address: expected 20 bytes.*, got nothing/],
    [
      listed({address: ADDRESS, storageKeys: "0x1"}),
      /accessList\[2\]\.storageKeys: expected an array.*, got "0x1"/,
    ],
    [
      listed({address: ADDRESS, storageKeys: ["0x"]}),
      /^params\[0\]\.accessList\[2\]\.storageKeys\[0\]: expected .*, got "0x"/,
    ],
    [
      listed({address: ADDRESS, storageKeys: ["0x1", 2]}),
      /accessList\[2\]\.storageKeys\[1\]: expected 0x and.*, got 2/,
    ],
    [
      listed({address: ADDRESS, storageKeys: [`0x${"1".repeat(65)}`]}),
      /storageKeys\[0\]: expected .*, got "0x1+"\.\.\. \(67/,
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
      /^params\[0\]\.authorizationList: expected a non-empty.*, got an array of 0/,
    ],
    [{to: ADDRESS, authorizationList: {}}, /^params\[0\]\.authorizationList: expected .*, got an object/],
    [
      {to: ADDRESS, authorizationList: [1]},
      /^params\[0\]\.authorizationList\[0\]: expected \{chainId.*, got 1/,
    ],
    [authorized({chainId: null}), /^params\[0\]\.authorizationList\[1\]\.chainId: expected.*, got nothing/],
    [authorized({address: "0x"}), /authorizationList\[1\]\.address: expected .*, got "0x"/],
    [authorized({yParity: null}), /authorizationList\[1\]\.yParity: expected .*, got nothing/],
    [authorized({v: 27}), /authorizationList\[1\]\.v: expected the same as yParity.*, got 27/],
    [authorized({r: -1}), /authorizationList\[1\]\.r: expected .*, got -1/],
    [authorized({s: "s"}), /authorizationList\[1\]\.s: expected .*, got "s"/],
  ]);
});
