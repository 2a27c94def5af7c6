import {VERSION} from "../../version.ts";
import type {ReadyMethod} from "../method.ts";
import {ParamList} from "../params.ts";

const NAME = "web3_clientVersion";
const CLIENT = `proofd/${VERSION}/${process.platform}-${process.arch}/node${process.versions.node}`;

export const clientVersion: ReadyMethod = {
  name: NAME,
  summary: "Name and version of this service, the platform and its Node.",
  params: new ParamList(NAME, []),
  result: {name: "clientVersion", schema: {type: "string"}},
  errors: [],
  lane: undefined,
  cost() {
    return 0;
  },
  answer(params) {
    this.params.read(params);
    return JSON.stringify(CLIENT);
  },
};
