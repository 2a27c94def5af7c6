import {VERSION} from "../../version.ts";
import {createReady} from "./readyMethod.ts";

const CLIENT = `proofd/${VERSION}/${process.platform}-${process.arch}/node${process.versions.node}`;

export const clientVersion = createReady({
  name: "web3_clientVersion",
  summary: "Name and version of this service, the platform and its Node.",
  result: {name: "clientVersion", schema: {type: "string"}},
  answer: () => JSON.stringify(CLIENT),
});
