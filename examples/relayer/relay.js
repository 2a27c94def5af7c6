/**
 * Relays a claim: gets the proof of a slot of layer 2 from proofd, verifies it, and sends it to the contract on layer 1, which pays.
 *
 *   node relay.js --proofd URL --l1 URL --claim ADDRESS --claimant ADDRESS [--suite poseidon2] [--forge]
 *
 * --l1 is a node with an unlocked account, such as anvil. --forge changes one bit of the proof, to see the contract refuse it.
 */
import {parseArgs} from "node:util";
import {compact, createProofClient, encodeHex, layer1Root, poseidon2Suite, sha256Suite} from "proofd-client";
import {Claim, Sha256ProofVerifier, StateRootOracle} from "proofd-contracts";
import {Contract} from "../layer1.js";

const {values: flags} = parseArgs({
  options: {
    proofd: {type: "string"},
    l1: {type: "string"},
    claim: {type: "string"},
    claimant: {type: "string"},
    suite: {type: "string", default: "sha256"},
    forge: {type: "boolean"},
  },
});

async function relay() {
  for (const name of ["proofd", "l1", "claim", "claimant"])
    if (flags[name] === undefined) throw new Error(`--${name} is missing`);
  const suite = [sha256Suite, poseidon2Suite].find(({name}) => name === flags.suite);
  if (suite === undefined) throw new Error(`--suite: expected sha256 or poseidon2, got ${flags.suite}`);
  const abi = [...Claim.abi, ...StateRootOracle.abi, ...Sha256ProofVerifier.abi];
  const claim = new Contract(flags.l1, flags.claim, abi);
  // What the claim pays for: a slot of an account on layer 2, at one block.
  const [account, block, oracle] = [
    await claim.read("account"),
    await claim.read("blockNumber"),
    await claim.read("oracle"),
  ];
  const slot = await claim.read("slotOf", flags.claimant);

  // proofd is not trusted: the client verifies its answer against the root that layer 1 holds. A wrong proof costs nothing
  // here; on layer 1 it would cost gas.
  const trustedRoot = layer1Root({url: flags.l1, contract: oracle});
  const client = createProofClient({url: flags.proofd, suite, trustedRoot});
  // Asks again until proofd has seen on layer 1 that the block is finalized, and layer 1 shows its root.
  const request = {address: account, storageKeys: [slot]};
  const {slots, proof: answer} = await client.waitForProof({...request, block});
  if (slots[0] === undefined) throw new Error(`nothing is owed to ${flags.claimant} at block ${block}`);
  const proof = compact(suite, request, answer);
  if (flags.forge) proof[proof.length - 1] ^= 1;

  const {gasUsed, transactionHash} = await claim.send("claim", flags.claimant, encodeHex(proof));
  console.log(
    `paid ${slots[0]} wei to ${flags.claimant}: ${proof.length} bytes of proof, ${BigInt(gasUsed)} gas`,
  );
  console.log(`transaction ${transactionHash}`);
}

await relay().catch(error => {
  console.error(`${error.name}: ${error.message}`);
  process.exitCode = 1;
});
