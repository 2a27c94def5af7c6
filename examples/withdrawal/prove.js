/**
 * Proves the withdrawals of a transaction on an OP-stack chain, with viem and proofd:
 *
 *   node prove.js --proofd URL --l2 URL --transaction HASH --block NUMBER --game INDEX --root ROOTCLAIM
 *
 * --l2 is any node of the chain that has the transaction's receipt; it need not have old states. --block, --game and --root are those of
 * a dispute game on layer 1 whose block is not before the transaction's. Prints for each withdrawal what viem's proveWithdrawal takes,
 * one line of JSON each, numbers as decimal text.
 */
import {parseArgs} from "node:util";
import {concat, createPublicClient, http, keccak256} from "viem";
import {buildProveWithdrawal, getWithdrawals} from "viem/op-stack";

const NAMES = ["proofd", "l2", "transaction", "block", "game", "root"];
const {values: flags} = parseArgs({
  options: Object.fromEntries(NAMES.map(name => [name, {type: "string"}])),
});

/** What a dispute game claims of its block: the hash of these four, 32 bytes each. */
function hashOutputRoot({version, stateRoot, messagePasserStorageRoot, latestBlockhash}) {
  return keccak256(concat([version, stateRoot, messagePasserStorageRoot, latestBlockhash]));
}

async function prove() {
  for (const name of NAMES) if (flags[name] === undefined) throw new Error(`--${name} is missing`);
  const node = createPublicClient({transport: http(flags.l2)});
  const proofd = createPublicClient({transport: http(flags.proofd)});
  const withdrawals = getWithdrawals(await node.getTransactionReceipt({hash: flags.transaction}));
  if (withdrawals.length === 0) throw new Error("the transaction has withdrawn nothing");
  const game = {index: BigInt(flags.game), l2BlockNumber: BigInt(flags.block), usesSuperRoots: false};
  for (const withdrawal of withdrawals) {
    const proven = await buildProveWithdrawal(proofd, {game, withdrawal});
    const root = hashOutputRoot(proven.outputRootProof);
    // Then the game is wrong, or proofd or its node is. The contract on layer 1 would refuse the proof.
    if (root !== flags.root)
      throw new Error(`block ${flags.block} has the output root ${root}, not ${flags.root}`);
    const text = JSON.stringify(proven, (_, value) => (typeof value === "bigint" ? String(value) : value));
    console.log(text);
  }
}

await prove().catch(error => {
  console.error(`${error.name}: ${error.message}`);
  process.exitCode = 1;
});
