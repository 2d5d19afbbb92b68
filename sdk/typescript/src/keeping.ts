// Values that come out of results which are kept from the model: what may come out is a closed shape.

/** Shape is what may come out of a text. There are no strings. */
export type Shape =
  | { kind: "number"; min: number; max: number; unit?: string }
  | { kind: "boolean" | "time" | "row" }
  | { kind: "date" | "datetime"; from?: string; to?: string }
  | { kind: "choice"; of: readonly string[] }
  | { kind: "list"; each: Shape; most: number }
  | { kind: "object"; fields: Readonly<Record<string, Shape>> };

const words = "could hold words of the text: use numbers with a minimum and a maximum, booleans, dates, times, enums, or lists of these";

/** shapeOf is the shape of a JSON Schema, such as `z.toJSONSchema(type)` of Zod makes one. It throws where it could hold words. */
export function shapeOf(schema: unknown): Shape {
  const s = fields(schema);
  const any = s["anyOf"];
  if (Array.isArray(any)) {
    const rest = any.filter((o) => fields(o)["type"] !== "null");
    if (rest.length === 1) return shapeOf(rest[0]);
  }
  if (Array.isArray(s["enum"]) && s["enum"].every((o) => typeof o === "string")) return { kind: "choice", of: s["enum"] };
  switch (s["type"]) {
    case "boolean":
      return { kind: "boolean" };
    case "integer":
    case "number": {
      const min = s["minimum"] ?? s["exclusiveMinimum"];
      const max = s["maximum"] ?? s["exclusiveMaximum"];
      if (typeof min === "number" && typeof max === "number") return { kind: "number", min, max };
      break;
    }
    case "string": {
      const kind = ({ date: "date", time: "time", "date-time": "datetime" } as const)[String(s["format"])];
      if (kind !== undefined) return { kind };
      break;
    }
    case "array":
      if (typeof s["maxItems"] === "number") return { kind: "list", each: shapeOf(s["items"]), most: s["maxItems"] };
      break;
    case "object":
      return { kind: "object", fields: Object.fromEntries(Object.entries(fields(s["properties"])).map(([name, f]) => [name, shapeOf(f)])) };
  }
  throw new TypeError(`${JSON.stringify(schema)} ${words}`);
}

/**
 * returns is the line of an errand that says what the sub-agent returns: one value of this schema, as JSON, and nothing else. Then what it
 * has read stays with it. The sub-agent works in a session of its own, and the tool that starts it is one of `controlTools`.
 */
export function returns(schema: unknown): string {
  return "tidemark-returns: " + JSON.stringify(shapeOf(schema));
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
