/** Lists the methods of the server, from its OpenRPC document (rpc.discover). */
import {createCaller} from "../client/methods/connection.ts";
import {element, place} from "./element.ts";

interface Description {
  readonly methods: readonly {
    readonly name: string;
    readonly summary: string;
    readonly params: readonly {readonly name: string; readonly required?: boolean}[];
  }[];
}

const DISCOVER = {method: "rpc.discover", params: [], maxAnswerBytes: 1 << 20};

export async function showMethods(url: string): Promise<void> {
  const list = place("methods-list");
  try {
    const {methods} = (await createCaller({url}).call(DISCOVER)) as Description;
    list.replaceChildren(
      ...methods.flatMap(({name, summary, params}) => [
        element("dt", {}, element("code", {}, `${name}(${params.map(writeParameter).join(", ")})`)),
        element("dd", {}, summary),
      ]),
    );
  } catch (error) {
    list.replaceChildren(element("dd", {class: "problem"}, (error as Error).message));
  }
}

function writeParameter({name, required = false}: {name: string; required?: boolean}): string {
  return required ? name : `${name}?`;
}
