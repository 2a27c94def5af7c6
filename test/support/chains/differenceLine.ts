/** One line of the NDJSON that the store imports (docs/importing.md), as plain JSON. */

/** Missing fields keep their old value. A new account has nonce 0, balance 0 and no code. */
export interface AccountDifference {
  nonce?: string;
  balance?: string;
  code?: string;
  /** Changed slots only; zero deletes. */
  storage?: Record<string, string>;
  /** Drops the account and its storage first. */
  reset?: true;
}

export interface DifferenceLine {
  number: string;
  hash: string;
  parentHash?: string;
  /** RLP. */
  header?: string;
  timestamp?: string;
  gasLimit?: string;
  baseFeePerGas?: string;
  miner?: string;
  mixHash?: string;
  extraData?: string;
  difficulty?: string;
  stateRoot?: string;
  chainId?: string;
  /** Block 0: geth's genesis config. */
  config?: object;
  finalized?: string;
  /** null deletes the account. */
  accounts: Record<string, AccountDifference | null>;
}

export function encodeLines(lines: readonly DifferenceLine[]): string {
  return lines.map(line => `${JSON.stringify(line)}\n`).join("");
}
