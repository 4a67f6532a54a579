/** `npm run api`: writes docs/api anew from the declarations of the packages that applications build on. */
import './help.ts';
import './build.ts';
import { writeReports } from './packages/api-files.ts';

for (const file of writeReports()) console.log(`docs/api/${file}`);
