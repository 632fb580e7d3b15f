// The provider that oidc.py starts; what it is to know comes as JSON in OIDC_SETTINGS.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const settings = JSON.parse(process.env.OIDC_SETTINGS);
const OWN = { access_ttl_s: 'number', pages: 'boolean', denies: 'boolean', withholds: 'string', keeps_refresh: 'boolean' };
const CODE_GRANTS = ['authorization_code', 'refresh_token'];
const ALL_GRANTS = [...CODE_GRANTS, 'client_credentials', 'urn:ietf:params:oauth:grant-type:device_code'];

const lasts = (_ctx, _token, client) => client?.access_ttl_s ?? 3600;
const provider = new Provider(settings.issuer, {
  clients: settings.clients.map((client) => ({
    grant_types: client.application_type === 'native' ? CODE_GRANTS : ALL_GRANTS,
    response_types: ['code'],
    ...client,
  })),
  clientDefaults: { grant_types: CODE_GRANTS, response_types: ['code'] },
  extraClientMetadata: {
    properties: Object.keys(OWN),
    validator(_ctx, key, value) {
      if (value !== undefined && typeof value !== OWN[key]) throw new Error(`${key} is a ${OWN[key]}`);
    },
  },
  cookies: { keys: [settings.secret] },
  scopes: ['openid', 'offline_access', 'profile', 'email', ...settings.scopes],
  claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
  },
  // A lifetime of two seconds is to be two seconds.
  clockTolerance: 0,
  pkce: { required: () => true },
  rotateRefreshToken: (ctx) => !ctx.oidc.client.keeps_refresh,
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  ttl: {
    AccessToken: lasts, ClientCredentials: lasts, AuthorizationCode: 60, DeviceCode: 600, Grant: 86400, IdToken: 3600,
    Interaction: 600, RefreshToken: 86400, Session: 3600,
  },
  findAccount: async (_ctx, id) => ({
    accountId: id,
    claims: async () => ({ sub: id, name: `Person ${id}`, email: `${id}@example.test` }),
  }),
});

for (const name of ['authorization.error', 'authorization.success', 'grant.error', 'grant.revoked', 'grant.success']) {
  provider.on(name, (ctx, second) => {
    const { client, params } = ctx.oidc ?? {};
    const event = { event: name, client: client?.clientId ?? '', grant: params?.grant_type ?? '' };
    appendFileSync(settings.events, `${JSON.stringify({ ...event, error: second?.error ?? '' })}\n`);
  });
}

// Signs the one person in and agrees for her, but for what the client says of itself.
async function goOn(req, res) {
  const { grantId, params, prompt, session } = await provider.interactionDetails(req, res);
  const client = await provider.Client.find(params.client_id);
  if (client.pages) return answer(req, res);
  const finish = (result) => provider.interactionFinished(req, res, result, { mergeWithLastSubmission: true });
  if (client.denies) return finish({ error: 'access_denied', error_description: 'the person said no' });
  if (prompt.name === 'login') return finish({ login: { accountId: settings.person } });
  const grant = (grantId && await provider.Grant.find(grantId))
    || new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
  const refused = new Set((client.withholds ?? '').split(' '));
  for (const scope of prompt.details.missingOIDCScope ?? []) {
    if (refused.has(scope)) grant.rejectOIDCScope(scope);
    else grant.addOIDCScope(scope);
  }
  if (prompt.details.missingOIDCClaims) grant.addOIDCClaims(prompt.details.missingOIDCClaims);
  return finish({ consent: { grantId: await grant.save() } });
}

const answer = provider.callback();
createServer((req, res) => {
  if (req.method !== 'GET' || !/^\/interaction\/[\w-]+$/.test(req.url)) return answer(req, res);
  return goOn(req, res).catch((error) => res.writeHead(500).end(`${error}\n`));
}).listen(settings.port, settings.host);
