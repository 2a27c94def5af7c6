/** Starts the page: readiness, newest blocks, and the proof explorer. */
import {poseidon2Suite, sha256Suite} from "../client/hash/hashSuites.ts";
import {createProofClient} from "../client/methods/proofClient.ts";
import {DEMO_CHAIN_ID, DEMO_SAMPLES} from "./about.ts";
import {element, place} from "./element.ts";
import {Explorer} from "./explorer/explorer.ts";
import {showMethods} from "./methods.ts";
import {followStatus, showService} from "./status.ts";

const SUITES = [sha256Suite, poseidon2Suite];
const RETRY_MS = 2000;

/** The URL of the page, also behind a proxy, is that of JSON-RPC too. */
const home = new URL(location.pathname, location.origin);
const server = createProofClient({url: home.href, verify: false});

let explorer: Explorer | undefined;
void followStatus(home, server, block => explorer?.chooseBlock(block));

// Retry: a service without blocks answers with an error until it has one.
for (;;) {
  try {
    const name = await showService(server);
    void showMethods(home.href);
    const suite = SUITES.find(one => one.name === name);
    if (suite === undefined) {
      place("request").replaceWith(element("p", {}, noForm(name)));
      break;
    }
    const {chainId} = await server.getHeader({block: "latest"});
    explorer = new Explorer(suite, server, home.href, chainId === DEMO_CHAIN_ID ? DEMO_SAMPLES : []);
    place("result").replaceChildren();
    break;
  } catch (error) {
    place("result").replaceChildren(element("p", {class: "problem"}, (error as Error).message));
    await new Promise(resolve => setTimeout(resolve, RETRY_MS));
  }
}

function noForm(suite: string): string {
  return suite === "keccak"
    ? "This store has only Ethereum's tries, whose proofs this page does not show. " +
        "Call eth_getProof, and verify the answer with proofd-client."
    : `This page does not know the hash suite ${suite}.`;
}
