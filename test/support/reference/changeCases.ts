/** A small chain in which everything happens to accounts and slots, and what may be asked about its changes. */
import {encodeHex} from "../../../client/bytes/hex.ts";
import {type HashSuite, word} from "../../../client/hash/hashSuites.ts";
import type {ChangesRequest, ComparedRoots} from "../../../client/leaves/changeRange.ts";
import type {AccountDifference, DifferenceLine} from "../chains/differenceLine.ts";
import {
  type ChangeHooks,
  type ChangeParts,
  type ComparedBlock,
  changeParts,
  joinChanges,
  LAST_CURSOR,
} from "./changeBytes.ts";
import {type KeyOf, keysOf} from "./rangeBytes.ts";
import {ReferenceState} from "./referenceState.ts";

function addressOf(i: number): string {
  return `0x${(0x2500 + i).toString(16).padStart(40, "0")}`;
}

function slotsFrom(first: number, values: readonly number[]): Record<string, string> {
  return Object.fromEntries(values.map((value, i) => [`0x${(first + i).toString(16)}`, `0x${value}`]));
}

/** Has slots in every block, other ones each time. */
export const CHANGING = addressOf(3);
/** Is deleted with its slots. */
const DELETED = addressOf(6);
/** Is deleted and created again in one block, with other slots. */
export const RECREATED = addressOf(8);
/** Gets its first slots later. */
const FILLED = addressOf(9);
const PLAIN = addressOf(2);
const ABSENT = addressOf(99);
const COME_AND_GONE = addressOf(21);

/** @param balance - of the plain accounts, by which the chains differ */
function makeLines(balance: number): readonly DifferenceLine[] {
  const code = {nonce: "0x7", balance: "0x100", code: "0x6001"};
  const contracts: Record<string, AccountDifference> = {
    [CHANGING]: {...code, storage: slotsFrom(1, [11, 12, 13, 14, 15, 16, 17, 18, 19])},
    [DELETED]: {...code, storage: slotsFrom(1, [21, 22, 23, 24])},
    [RECREATED]: {...code, storage: slotsFrom(1, [31, 32, 33])},
  };
  const plain = Array.from({length: 12}, (_, i) => [
    addressOf(i),
    {balance: `0x${(balance + i).toString(16)}`},
  ]);
  const blocks: Record<string, AccountDifference | null>[] = [
    {...Object.fromEntries(plain), ...contracts},
    {
      [CHANGING]: {storage: {"0x3": "0x0", "0x1": "0x1a", ...slotsFrom(10, [41, 42])}},
      [addressOf(5)]: null,
      [PLAIN]: {balance: "0x77"},
      [RECREATED]: {...code, reset: true, storage: slotsFrom(3, [34, 35, 36])},
      [addressOf(20)]: {balance: "0x1"},
      [COME_AND_GONE]: {balance: "0x2"},
    },
    {
      [CHANGING]: {storage: {"0xb": "0x0", "0x2": "0x2a"}},
      [DELETED]: null,
      [COME_AND_GONE]: null,
      [FILLED]: {storage: slotsFrom(7, [51, 52])},
      [addressOf(20)]: {nonce: "0x9"},
    },
  ];
  return blocks.map((accounts, i) => ({number: `0x${i}`, hash: encodeHex(word(i)), accounts}));
}

const LINES = makeLines(1);
/** Every kind of tree, and every kind of account. */
export const CHANGED_TREES: readonly string[] = [
  ...["accounts", "all"],
  ...[CHANGING, DELETED, RECREATED, FILLED, PLAIN, ABSENT],
];

/** Two blocks of the chain, and what is asked about them. */
export interface ChangesQuestion {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly request: ChangesRequest;
  /** Where the answer ends; LAST_CURSOR: nowhere. */
  readonly end: bigint;
}

export class ChangeCases {
  readonly keyOf: KeyOf;
  readonly state: ReferenceState;
  private readonly otherState: ReferenceState;
  private readonly questions = new Map<string, readonly ChangesQuestion[]>();

  constructor(readonly suite: HashSuite) {
    this.keyOf = keysOf(suite, LINES);
    this.state = new ReferenceState(suite, LINES);
    this.otherState = new ReferenceState(suite, makeLines(101));
  }

  get blocks(): number {
    return this.state.latest + 1;
  }

  rootsOf({fromBlock, toBlock}: Pick<ChangesQuestion, "fromBlock" | "toBlock">): ComparedRoots {
    return {from: this.state.stateRoot(fromBlock), to: this.state.stateRoot(toBlock)};
  }

  /** @param isOtherChain - the same accounts with other balances */
  partsOf(question: ChangesQuestion, hooks?: ChangeHooks, isOtherChain = false): ChangeParts {
    const {fromBlock, toBlock, request, end} = question;
    const state = isOtherChain ? this.otherState : this.state;
    const blocks = [fromBlock, toBlock].map(number => ({
      number,
      hash: LINES[number]?.hash as string,
    })) as unknown as readonly [ComparedBlock, ComparedBlock];
    return changeParts(state, blocks, request.tree, request.cursor, end, this.keyOf, hooks);
  }

  prove(question: ChangesQuestion): Uint8Array {
    return joinChanges(this.partsOf(question));
  }

  /** Every answer of at most `longest` leaves that begins at any place, and the whole. */
  listQuestions(
    tree: string,
    fromBlock: number,
    toBlock: number,
    longest: number,
  ): readonly ChangesQuestion[] {
    const name = [tree, fromBlock, toBlock, longest].join();
    const questions = this.questions.get(name) ?? this.makeQuestions(tree, fromBlock, toBlock, longest);
    this.questions.set(name, questions);
    return questions;
  }

  private makeQuestions(
    tree: string,
    fromBlock: number,
    toBlock: number,
    longest: number,
  ): ChangesQuestion[] {
    const compared = {fromBlock, toBlock};
    const whole = {...compared, request: {tree, cursor: 0n, count: 4096}, end: LAST_CURSOR};
    const places: bigint[] = [];
    this.partsOf(whole, {
      onChange: ({owner, leafIndex}) => {
        if (owner === undefined) places.push(BigInt(leafIndex) << 40n);
        // At the head no answer ends.
        else if (leafIndex > 0) places.push((BigInt(owner.account) << 40n) + BigInt(leafIndex));
      },
    });
    const questions: ChangesQuestion[] = [whole];
    for (const [i, cursor] of places.entries())
      for (let count = 1; count <= longest && i + count <= places.length; count++)
        questions.push({
          ...compared,
          request: {tree, cursor: i === 0 ? 0n : cursor, count},
          end: places[i + count] ?? LAST_CURSOR,
        });
    return questions;
  }
}
