/** The request as code for curl and viem. */
import {quantity} from "../../client/bytes/hex.ts";
import type {HashSuite} from "../../client/hash/hashSuites.ts";
import type {ProofRequest} from "../../client/proof/request.ts";

export function writeCurl(url: string, {address, storageKeys}: ProofRequest, block: bigint): string {
  const call = {
    ...{jsonrpc: "2.0", id: 1, method: "chain_getProofAt"},
    params: [address, storageKeys, quantity(block)],
  };
  return `curl -s ${quote(url)} -H 'Content-Type: application/json' \\\n  -d ${quote(JSON.stringify(call))}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function writeViem(
  url: string,
  suite: HashSuite,
  {address, storageKeys}: ProofRequest,
  block: bigint,
  root: string,
): string {
  const name = `${suite.name}Suite`;
  return [
    'import {createPublicClient, http} from "viem";',
    `import {createProofClient, ${name}} from "proofd-client";`,
    "",
    `// Of block ${block}. Take it from where you trust it, such as the contract on layer 1.`,
    `const trustedRoot = "${root}";`,
    `const {request} = createPublicClient({transport: http(${JSON.stringify(url)})});`,
    `const client = createProofClient({request, suite: ${name}, trustedRoot});`,
    "const {account, slots} = await client.getProof({",
    `  address: "${address}",`,
    `  storageKeys: ${JSON.stringify(storageKeys)},`,
    `  block: ${block}n,`,
    "});",
  ].join("\n");
}
