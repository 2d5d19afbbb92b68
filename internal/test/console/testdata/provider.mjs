// A real provider: oidc-provider of npm, with its own pages for signing in. Arguments: its folder, the
// address the browser is sent back to, and the client's secret. It prints its issuer once it listens.
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const [folder, callback, secret] = process.argv.slice(2);
const { Provider } = await import(pathToFileURL(join(folder, 'lib', 'index.js')));

const groups = { ada: ['staff', 'sec-team'], bob: ['staff'], eve: ['sales'] };
const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://localhost:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'tidemark', client_secret: secret, redirect_uris: [callback] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['keys of the cookies of a test'] },
    pkce: { required: () => true },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, groups: groups[id] ?? [] }),
    }),
  });
  server.on('request', provider.callback());
  console.log(issuer);
});
