/** Makes a client of one server. */
import {HttpCaller} from "../rpc/httpCaller.ts";
import {type ConnectionOptions, readConnection} from "./connection.ts";
import {bindMethods, type ProofClient} from "./proofClient.ts";
import {AnswerVerifier} from "./provenAnswer.ts";
import type {NoTrust, Trust} from "./trustedRoot.ts";

/**
 * Makes a client. It holds no resource: connections are those of `fetch`.
 *
 *     const client = createProofClient({
 *       url: "http://127.0.0.1:8545",
 *       suite: sha256Suite,
 *       trustedRoot: block => myRoots.get(block),
 *     });
 *     const {block, account, slots} = await client.getProof({address, storageKeys: ["0x0"]});
 *
 * @throws TypeError for an option that is none
 */
export function createProofClient(options: ConnectionOptions & Trust): ProofClient;
export function createProofClient(options: ConnectionOptions & NoTrust): ProofClient<false>;
export function createProofClient(options: ConnectionOptions & (Trust | NoTrust)): ProofClient<boolean> {
  const caller = new HttpCaller(readConnection(options));
  if (options.verify === false) return bindMethods(caller, undefined);
  return bindMethods(caller, new AnswerVerifier(options));
}
