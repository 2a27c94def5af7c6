/** Test vectors: whole answers of chain_getProof, with the blocks that they belong to. */
import {encodeHex} from "../../../client/bytes/hex.ts";
import type {HashSuite} from "../../../client/hash/hashSuites.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import type {DifferenceLine} from "../chains/differenceLine.ts";
import {type ProofResult, ReferenceState} from "./referenceState.ts";

interface ProofVector {
  readonly what: string;
  readonly block: number;
  readonly address: string;
  /** 32 bytes each. */
  readonly keys: readonly string[];
  readonly result: ProofResult;
}

export interface ProofVectors {
  readonly suite: HashSuite["name"];
  /** As `proofd import --diffs` reads them, each with its state root. */
  readonly blocks: readonly DifferenceLine[];
  readonly proofs: readonly ProofVector[];
}

const CONTRACT = "0x2400000000000000000000000000000000000000";
const PERSON = "0x2900000000000000000000000000000000000000";
const EMPTY = "0x2f00000000000000000000000000000000000000";
const ABSENT = "0x3500000000000000000000000000000000000000";

const CODE = "0x60016000f3";
const BLOCKS: readonly DifferenceLine["accounts"][] = [
  {
    [CONTRACT]: {nonce: "0x1", balance: "0x64", code: CODE, storage: {"0x1": "0xa", "0x2": "0xb"}},
    [EMPTY]: {},
  },
  {
    [CONTRACT]: {storage: {"0x1": "0xc", "0x2": "0x0"}},
    [PERSON]: {nonce: "0x7", balance: "0xde0b6b3a7640000"},
  },
  {[PERSON]: null},
];
const CALLS: readonly (readonly [what: string, block: number, address: string, slots: readonly number[]])[] =
  [
    ["a contract with a slot that it has and one that it has lost", 1, CONTRACT, [1, 2]],
    ["an account without code and slots", 1, PERSON, []],
    ["an empty account, whose storage is a new tree", 1, EMPTY, [0]],
    ["an absent account: its slots are shown absent from a new tree", 1, ABSENT, [1]],
    ["an account that was deleted", 2, PERSON, []],
  ];

export function makeProofVectors(suite: HashSuite): ProofVectors {
  const hashOf = (block: number) => encodeHex(word(block + 1));
  const state = new ReferenceState(suite);
  const blocks = BLOCKS.map((accounts, block): DifferenceLine => {
    const line = {
      number: `0x${block.toString(16)}`,
      hash: hashOf(block),
      ...(block === 0 ? {} : {parentHash: hashOf(block - 1)}),
      accounts,
    };
    state.applyBlock(line);
    return {...line, stateRoot: encodeHex(state.stateRoot(block))};
  });
  const proofs = CALLS.map(([what, block, address, slots]) => {
    const keys = slots.map(slot => encodeHex(word(slot)));
    return {what, block, address, keys, result: state.prove(block, address, keys)};
  });
  return {suite: suite.name, blocks, proofs};
}
