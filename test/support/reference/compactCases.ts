/** A small state whose compact proofs have everything in them, and requests for them. */
import {encodeHex} from "../../../client/bytes/hex.ts";
import {compactAnswers} from "../../../client/compact/compactProof.ts";
import {type HashSuite, word} from "../../../client/hash/hashSuites.ts";
import type {ProofRequest} from "../../../client/proof/request.ts";
import type {DifferenceLine} from "../chains/differenceLine.ts";
import {ReferenceState} from "./referenceState.ts";

function addressOf(i: number): string {
  return `0x${(0x2400 + i).toString(16).padStart(40, "0")}`;
}

export const CONTRACT = addressOf(3);
const PLAIN = addressOf(2);
export const OTHER = addressOf(4);
const DELETED = addressOf(5);

/** A contract whose slots are 16 and up and which has lost its third; seven accounts without code, one of them deleted. */
function makeLines(firstBalance: number): readonly DifferenceLine[] {
  return [
    {
      number: "0x0",
      hash: encodeHex(word(0)),
      accounts: Object.fromEntries(
        Array.from({length: 8}, (_, i) => {
          const storage = Object.fromEntries(
            Array.from({length: 9}, (_, slot) => [`0x${slot + 1}`, `0x${(slot + 16).toString(16)}`]),
          );
          const contract = {nonce: "0x7", balance: "0x100", code: "0x6001", storage};
          return [
            addressOf(i),
            addressOf(i) === CONTRACT ? contract : {balance: `0x${(firstBalance + i).toString(16)}`},
          ];
        }),
      ),
    },
    {
      number: "0x1",
      hash: encodeHex(word(1)),
      accounts: {[CONTRACT]: {storage: {"0x3": "0x0"}}, [DELETED]: null},
    },
  ];
}

export const LINES = makeLines(1);
/** Of another chain: the accounts without code have other balances. */
export const OTHER_LINES = makeLines(101);

/** At least one. */
type Requests = readonly [ProofRequest, ...ProofRequest[]];

export const COMPACT_REQUESTS = {
  /** A present and an absent slot of the contract; an absent account; an account without storage, asked for a slot. */
  many: [
    {address: CONTRACT, storageKeys: ["0x1", "0x3"]},
    {address: DELETED, storageKeys: ["0x1"]},
    {address: PLAIN, storageKeys: ["0x1"]},
  ],
  contract: [{address: CONTRACT, storageKeys: []}],
  twice: [
    {address: CONTRACT, storageKeys: []},
    {address: CONTRACT, storageKeys: []},
  ],
  pair: [
    {address: CONTRACT, storageKeys: []},
    {address: PLAIN, storageKeys: []},
  ],
  slots: [{address: CONTRACT, storageKeys: ["0x1", "0x2", "0x3"]}],
  /** A slot that is there, one that is not, and the first in another spelling. */
  answer: [{address: CONTRACT, storageKeys: ["0x1", "0x3", "0x01"]}],
  plain: [{address: PLAIN, storageKeys: []}],
  other: [{address: OTHER, storageKeys: []}],
  absent: [{address: DELETED, storageKeys: []}],
} satisfies Record<string, Requests>;

export type CompactRequestName = keyof typeof COMPACT_REQUESTS;

export interface CompactCase {
  readonly root: Uint8Array;
  readonly request: readonly ProofRequest[];
  readonly bytes: Uint8Array;
}

export class CompactCases {
  readonly suite: HashSuite;
  readonly state: ReferenceState;
  /** All accounts that exist or have existed. */
  readonly addresses: readonly string[] = Object.keys(LINES[0]?.accounts ?? {});

  constructor(suite: HashSuite, lines = LINES) {
    this.suite = suite;
    this.state = new ReferenceState(suite, lines);
  }

  /** The valid proof. @param block - default: the newest */
  prove(name: CompactRequestName, block = this.state.latest): CompactCase {
    const {suite, state} = this;
    const request = COMPACT_REQUESTS[name];
    const answers = request.map(({address, storageKeys}) => state.prove(block, address, storageKeys));
    return {
      root: state.stateRoot(block),
      request,
      bytes: compactAnswers(suite, request, answers),
    };
  }
}
