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
      ...methods.flatMap(({name, summary, params}) => {
        const names = params.map(one => (one.required ? one.name : `${one.name}?`));
        return [
          element("dt", {}, element("code", {}, `${name}(${names.join(", ")})`)),
          element("dd", {}, summary),
        ];
      }),
    );
  } catch (error) {
    list.replaceChildren(element("dd", {class: "problem"}, (error as Error).message));
  }
}
