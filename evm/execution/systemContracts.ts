/**
 * The contracts that are called after a block's transactions: for withdrawal requests (EIP-7002) and consolidation requests
 * (EIP-7251). A block is invalid if one of them has no code or if its call fails.
 */
import {type JsonObject, parseFixedBytes} from "./gethJson.ts";

export interface SystemContract {
  readonly eip: number;
  /** Of its requests (EIP-7685). */
  readonly type: number;
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** The name of its address in @ethereumjs. */
  readonly param: string;
}

/** With the names of their addresses in Besu's genesis config. */
const CONTRACTS = [
  {
    eip: 7002,
    type: 1,
    standard: "0x00000961ef480eb55e80d19ad83579a64c007002",
    field: "withdrawalRequestContractAddress",
    param: "withdrawalRequestPredeployAddress",
  },
  {
    eip: 7251,
    type: 2,
    standard: "0x0000bbddc7ce488642fb579f8b00f3a590007251",
    field: "consolidationRequestContractAddress",
    param: "consolidationRequestPredeployAddress",
  },
];

/** In the order of their calls. Addresses that a genesis config does not set are those of the EIPs. */
export function readSystemContracts(config: JsonObject): SystemContract[] {
  return CONTRACTS.map(({standard, field, ...contract}) => ({
    ...contract,
    address: parseFixedBytes(config[field] ?? standard, `config.${field}`, 20),
  }));
}
