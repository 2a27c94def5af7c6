/**
 * Says why a block was refused: what was wrong and what is expected. The library's own messages name a check in its code, or
 * the state of the machine. The library's version is pinned, and a test covers these messages.
 */

/** Messages about the whole block. What the executor compares itself (gas used, roots, bloom) never gets here. */
const OF_BLOCK: readonly (readonly [RegExp, string])[] = [
  [/^invalid transaction trie$/, "its transactions do not give the transactions root of its header"],
  [/^invalid uncle hash$/, "its uncles do not give the uncle hash of its header"],
  [/^invalid withdrawals trie$/, "its withdrawals do not give the withdrawals root of its header"],
  [/uncleHeaders on a PoS network/, "it has uncles, which no block has since the merge"],
  [/uncleHeaders on a PoA network/, "it has uncles, which no block of clique has"],
  [
    /^Invalid block: too much gas used. Used: (\d+), gas limit: (\d+)$/,
    "gas used is $1, its gas limit is $2",
  ],
  [/^Invalid PoS block: (.*)$/, "since the merge a header has no uncles and nonce 0: $1"],
  [/gas limit greater than \(2\^63 - 1\)/, "its gas limit is more than 2^63 - 1"],
  [
    /^Block size exceeds .*?(\d+)(?: bytes)? > (\d+)/,
    "it has $1 bytes, a block may have at most $2 (EIP-7934)",
  ],
  [
    /^invalid transactions: .*invalid blobGasUsed expected=(\d+) actual=(\d+)$/,
    "blob gas used: expected $1 as in its header, got $2",
  ],
  [
    /^invalid transactions: errors at tx (\d+): tx unable to pay base fee/,
    "transaction $1: it pays less per gas than the block's base fee",
  ],
  [/^invalid transactions: errors at tx (\d+): (.*)$/, "transaction $1: $2"],
  [
    /^invalid transactions: transaction at index (\d+) is unsigned$/,
    "transaction $1 is not signed: its signature is 0",
  ],
  [/^system contract empty: no code at .*?(0x[0-9a-f]{40})/, "the system contract $1 has no code"],
];

/** Messages about the transaction that was about to run. */
const OF_TRANSACTION: readonly (readonly [RegExp, string])[] = [
  [/^tx has a higher gas limit than the block$/, "its gas limit is more than what is left of the block's"],
  [/EIP (\d+) is not activated/, "its type needs EIP-$1, which the block's fork does not have"],
  [
    /^INTRINSIC_GAS_TOO_LOW: tx gas limit (\d+) .* of (\d+)$/,
    "its gas limit is $1, it takes $2 before it executes anything",
  ],
  [
    /^Transaction's (\w+) \((\d+)\) is less than the block's baseFeePerGas \((\d+)\)$/,
    "its $1 is $2 wei, the block's base fee is $3",
  ],
  [
    /maxFeePerBlobGas (\d+)\)? is less than block blobGasPrice \((\d+)\)/,
    "its maxFeePerBlobGas is $1 wei, the block's blob base fee is $2",
  ],
  [/address is not EOA \(EIP-3607\)$/, "its sender is a contract (EIP-3607)"],
  [
    /(?:upfront|max) cost is: (\d+) and the sender's account \((0x[0-9a-f]{40})\) only has: (\d+)$/,
    "it takes $1 wei, its sender $2 has $3",
  ],
  [
    /account has nonce of: (\d+) tx has nonce of: (\d+)$/,
    "its nonce is $2, the next one of its sender is $1",
  ],
  [
    /intrinsic regular gas (\d+) exceeds the EIP-7825 cap \((\d+)\)/,
    "it takes $1 gas, at most $2 is allowed (EIP-7825)",
  ],
];

/** @param transaction - position of the transaction that was about to run, if one was */
export function describeRefusal(error: unknown, transaction: number | undefined): string {
  const message = plainMessage(error);
  const ofBlock = translate(OF_BLOCK, message);
  if (ofBlock !== undefined) return ofBlock;
  const ofTransaction = translate(OF_TRANSACTION, message);
  if (ofTransaction === undefined) return message;
  return transaction === undefined ? ofTransaction : `transaction ${transaction}: ${ofTransaction}`;
}

function translate(table: readonly (readonly [RegExp, string])[], message: string): string | undefined {
  for (const [pattern, words] of table) {
    const found = pattern.exec(message);
    if (found) return words.replace(/\$(\d)/g, (_, at: string) => found[Number(at)] ?? "?");
  }
  return undefined;
}

/** @ethereumjs ends its messages with the state of the machine in parentheses. */
function plainMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/ \((vm|block|tx) .*$/s, "");
}
