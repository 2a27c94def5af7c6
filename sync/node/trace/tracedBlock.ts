/** A block as its traces need it: its header, who its transactions name, and who is paid outside of transactions. */
import {NodeFailure} from "../../rpc/node.ts";
import {type JsonObject, parseAddress, parseArray, parseObject, parseWord} from "../answerValues.ts";
import {type NodeHeader, parseNodeHeader} from "../nodeHeader.ts";
import {recoverAuthority} from "./authority.ts";

export interface TracedBlock {
  readonly header: NodeHeader;
  /** `0x` and 64 digits in lower case, in the order of the block. */
  readonly transactions: readonly string[];
  /**
   * Accounts (`0x` and 40 digits) that are read back although no trace may name them: who pays fees, who gets them, withdrawals, and
   * who signed an authorization.
   */
  readonly addresses: ReadonlySet<string>;
  readonly uncles: number;
  /** The block writes its parent's beacon root (EIP-4788). */
  readonly hasBeaconRoot: boolean;
}

/** An uncle gets a reward. Ethereum allows two. */
const MAX_UNCLES = 16;

/** @param answer - of eth_getBlockByNumber with whole transactions. @throws NodeFailure */
export function parseTracedBlock(answer: unknown, number: number): TracedBlock {
  const block = parseObject(answer, `block ${number}`);
  const header = parseNodeHeader(block, number);
  const where = (field: string): string => `block ${number}: ${field}`;
  const addresses = new Set([parseAddress(block.miner, where("miner"))]);
  const transactions = parseArray(block.transactions, where("transactions")).map((value, position) => {
    const field = where(`transaction ${position}`);
    const transaction = parseObject(value, field);
    addParties(transaction, field, addresses);
    return parseWord(transaction.hash, `${field}: hash`);
  });
  if ((block.withdrawals ?? undefined) !== undefined)
    for (const [position, value] of parseArray(block.withdrawals, where("withdrawals")).entries()) {
      const field = where(`withdrawal ${position}`);
      addresses.add(parseAddress(parseObject(value, field).address, `${field}: address`));
    }
  const uncles = parseArray(block.uncles ?? [], where("uncles")).length;
  if (uncles > MAX_UNCLES)
    throw new NodeFailure(where(`${uncles} uncles, at most ${MAX_UNCLES} are expected`));
  const hasBeaconRoot = (block.parentBeaconBlockRoot ?? undefined) !== undefined;
  return {header, transactions, addresses, uncles, hasBeaconRoot};
}

function addParties(transaction: JsonObject, field: string, addresses: Set<string>): void {
  const {from, to, authorizationList} = transaction;
  addresses.add(parseAddress(from, `${field}: from`));
  if ((to ?? undefined) !== undefined) addresses.add(parseAddress(to, `${field}: to`));
  if ((authorizationList ?? undefined) === undefined) return;
  for (const [position, value] of parseArray(authorizationList, `${field}: authorizationList`).entries()) {
    const authority = recoverAuthority(value, `${field}: authorization ${position}`);
    if (authority !== undefined) addresses.add(authority);
  }
}
