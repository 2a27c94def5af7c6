/**
 * Which fields a block of a fork has. This is checked only after a block was refused. The library says which EIP the block
 * lacks, but not that a wrong number or timestamp made it a block of another fork.
 */
import type {Common} from "@ethereumjs/common";
import {createTxFromRLP} from "@ethereumjs/tx";
import {RlpReader} from "../../storage/rlp/rlpReader.ts";
import type {BlockHead} from "./blockHead.ts";

interface HeaderField {
  readonly name: string;
  /** The EIP that introduced it; undefined: it was always there. */
  readonly eip?: number;
  readonly bytes?: number;
}

/** In their order in the header. */
const HEADER_FIELDS: readonly HeaderField[] = [
  {name: "parentHash", bytes: 32},
  {name: "uncleHash", bytes: 32},
  {name: "miner", bytes: 20},
  {name: "stateRoot", bytes: 32},
  {name: "transactionsRoot", bytes: 32},
  {name: "receiptsRoot", bytes: 32},
  {name: "logsBloom", bytes: 256},
  {name: "difficulty"},
  {name: "number"},
  {name: "gasLimit"},
  {name: "gasUsed"},
  {name: "timestamp"},
  {name: "extraData"},
  {name: "mixHash", bytes: 32},
  {name: "nonce", bytes: 8},
  {name: "baseFeePerGas", eip: 1559},
  {name: "withdrawalsRoot", eip: 4895, bytes: 32},
  {name: "blobGasUsed", eip: 4844},
  {name: "excessBlobGas", eip: 4844},
  {name: "parentBeaconBlockRoot", eip: 4788, bytes: 32},
  {name: "requestsHash", eip: 7685, bytes: 32},
];

const EIP_OF_TYPE: Readonly<Record<number, number>> = {1: 2930, 2: 1559, 3: 4844, 4: 7702};
const LEGACY_FROM = 0xc0;

/**
 * @param common - set to the block's fork
 * @throws Error that says what is missing, what is too much, or what has a wrong length
 */
export function checkShape(blockRlp: Uint8Array, {number, timestamp}: BlockHead, common: Common): void {
  const parts = new RlpReader(blockRlp).readList();
  const header = parts.readList().readItems();
  const fork = `by its number ${number} and timestamp ${timestamp} it is a block of ${common.hardfork()}`;
  const expected = HEADER_FIELDS.filter(({eip}) => eip === undefined || common.isActivatedEIP(eip));
  if (header.length < expected.length)
    throw new Error(`its header lacks ${listNames(expected.slice(header.length))}: ${fork}`);
  if (header.length > expected.length) {
    const what =
      header.length > HEADER_FIELDS.length
        ? `${header.length} fields`
        : listNames(HEADER_FIELDS.slice(expected.length, header.length));
    throw new Error(`its header: expected ${expected.length} fields, got ${what}: ${fork}`);
  }
  for (const [at, {name, bytes}] of expected.entries()) {
    const length = header[at]?.length;
    if (bytes !== undefined && length !== bytes)
      throw new Error(`${name}: expected ${bytes} bytes, got ${length}`);
  }
  const hasWithdrawals = common.isActivatedEIP(4895);
  const count = hasWithdrawals ? 4 : 3;
  const rest = parts.readItems();
  if (1 + rest.length !== count) {
    const names = `header, transactions, uncles${hasWithdrawals ? ", withdrawals" : ""}`;
    throw new Error(`expected ${count} parts (${names}), got ${1 + rest.length}: ${fork}`);
  }
  const transactions = new RlpReader(rest[0] as Uint8Array).readList().readItems();
  for (const [at, transaction] of transactions.entries()) checkTransaction(transaction, at, common);
}

function checkTransaction(transaction: Uint8Array, at: number, common: Common): void {
  const [type] = transaction;
  if (type !== undefined && type < LEGACY_FROM) {
    const eip = EIP_OF_TYPE[type];
    if (eip === undefined) throw new Error(`transaction ${at} has type ${type}, which no fork has`);
    if (!common.isActivatedEIP(eip))
      throw new Error(
        `transaction ${at} has type ${type} (EIP-${eip}), which ${common.hardfork()} does not have`,
      );
  }
  try {
    createTxFromRLP(transaction, {common});
  } catch (error) {
    throw new Error(`transaction ${at} cannot be read: ${(error as Error).message}`, {cause: error});
  }
}

function listNames(fields: readonly HeaderField[]): string {
  return fields.map(({name}) => name).join(", ");
}
