// Runs a step under node: `node run.mjs <folder of the build> <step> <settings>`.
import { pathToFileURL } from "node:url";
import * as steps from "./steps.mjs";

const [folder, step, settings] = process.argv.slice(2);
const kit = await import(pathToFileURL(`${folder}/index.js`));
console.log(JSON.stringify(await steps[step](kit, JSON.parse(settings))));
