package secret

import (
	"encoding/json"
	"strings"
	"testing"
)

// kinds are credentials with what stands around them, as tools print them. Values are made up, and put
// together here, so that no scanner takes this file for a leak.
var kinds = []struct{ name, before, value, after string }{
	{"AWSSecret", "aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYzq3kLw9Ab1", "\nregion = eu-west-1"},
	{"AWSSession", "export AWS_SESSION_TOKEN=", "FwoGZXIvYXdzEBYaD" + pad, "\n"},
	{"AzureStorage", "AccountName=acct;AccountKey=", pad + pad[:6] + "==", ";EndpointSuffix=core.windows.net"},
	{"AzureSAS", "https://acct.blob.core.windows.net/c?sv=2022-11-02&sig=", pad + "%3D", "&se=2026"},
	{"AzureClientSecret", "AZURE_CLIENT_SECRET=", "Q3x8Q~" + pad[:34], "\n"},
	{
		"AzureServiceBus", "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=",
		pad + "a=", "",
	},
	{"GCPKeyID", `"private_key_id": "`, "37ff6467e2cbdc9555c13c31085fef41aa11bb22", `",`},
	{"Kubeconfig", "    client-key-data: ", "LS0tLS1CRUdJTiBSU0Eg" + "UFJJVkFURSBLRVk" + pad, "\n"},
	{"KubeconfigToken", "    token: ", pad + "4f1c9a7be2d83056a1b9c4d7e6f08213", "\n"},
	{"KubernetesSecret", "data:\n  db-password: ", "U3VwZXJTZWNyZXQxMjM0NTY3", "\n"},
	{"DockerAuth", `"auth": "`, "dXNlcjpwYXNzd29yZDEyMzQ1Ng==", `"`},
	{"NPMRC", "//registry.example.org/:_auth=", "dXNlcjpwYXNzd29yZDEyMzQ1Ng==", "\n"},
	{"DotEnvWords", "DB_PASSWORD=", "correcthorsebatterystaple", "\n"},
	{"DotEnvShort", "DB_PASSWORD=", "hunter2", "\n"},
	{"DotEnvPass", "DB_PASS=", "Tr0ub4dor&3x", "\n"},
	{"DotEnvPwd", "MYSQL_PWD=", "Tr0ub4dor&3y", "\n"},
	{"DotEnvQuoted", `DB_PASSWORD="`, "P@ss;w0rd,9xQ", `"`},
	{"DotEnvEquals", "DB_PASSWORD=", "ab=cd1ef=", "\n"},
	{"Django", "SECRET_KEY = '", "django-insecure-#x" + pad, "'"},
	{"HighEntropy", "ENCRYPTION_KEY=", "478212464318d99a3b789743386905d3874f4c21d7067b13fb255a9dd8bbc7cb", "\n"},
	{"OtherKey", "DATA_KEY=", "9b789743386905d3874f4c21d7067b13", "\n"},
	{"SigningKey", "JWT_SIGNING_KEY: ", pad, "\n"},
	{"Rails", "SECRET_KEY_BASE=", "9b789743386905d3874f4c21d7067b13" + "9b789743386905d3874f4c21d7067b13", "\n"},
	{"Letters", `api_secret: "`, "kXwQzRtYvbNmLpqSdfGhJk", `"`},
	{"OTP", "otpauth://totp/x?secret=", "JBSWY3DPEHPK3PXPJBSWY3DP", "&issuer=y"},
	{"YAML", "password: ", "Tr0ub4dor-and-3", "\n"},
	{"YAMLNextLine", "password:\n  ", "Zx9kfj2LmQqq7", "\nuser: x"},
	{"JSON", `{"password": "`, "Zx9!kfj2LmQ", `", "user": "u"}`},
	{"Camel", `{dbPassword: '`, "pass;word!x", `'}`},
	{"Go", "\tapiKey := \"", pad, "\""},
	{"Typed", "password: str = \"", "hunter2hunter2", "\""},
	{"RubyHash", "'api_key' => '", pad, "'"},
	{"PythonIndex", `config["password"] = "`, "hunter2hunter2", `"`},
	{"Maven", "<password>", "Zx9kfj2LmQ", "</password>"},
	{"ADO", "Server=db;User Id=sa;Password=", "Zx9!kfj2LmQ", ";Encrypt=true"},
	{"Properties", "spring.datasource.password=", "Zx9kfj2LmQ", "\n"},
	{"Markdown", "**Password:** `", "Zx9kfj2LmQ", "`"},
	{"Bearer", "Authorization: Bearer ", pad[:32], "\n"},
	{"BearerAlone", "send it as Bearer ", pad[:32], ", please"},
	{"Basic", "Authorization: Basic ", "YWRtaW46c3VwZXJzZWNyZXQxMjM=", "\n"},
	{"Header", "curl -H 'x-api-key: ", "efd87800f3ec69920192fb02a010dc3f", "' https://x.test"},
	{"SubscriptionKey", "Ocp-Apim-Subscription-Key: ", "efd87800f3ec69920192fb02a010dc3f", "\n"},
	{"Cookie", "Cookie: theme=dark; sid=", "76e146gmgc0YNZNrggUmtAbprSwt7F0M", "; path=/"},
	{"SetCookie", "Set-Cookie: connect.sid=", "s%3Aa7zBVvRHn1fYkamV8aEEXlEvZq6rnREg", "; HttpOnly"},
	{"CurlCookie", "curl -b 'sid=", pad[:32], "' https://x.test"},
	{"Dockerfile", "ENV DB_PASSWORD ", "hunter2x9", "\n"},
	{"WordPress", "define('DB_PASSWORD', '", "hunter2x9", "');"},
	{"Setenv", `t.Setenv("API_TOKEN", "`, pad, `")`},
	{"AWSConfigure", "aws configure set aws_secret_access_key ", "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYzq3kLw9Ab1", "\n"},
	{"AWSPair", "", "AKIA" + "Q3EGRT7YXWZP4MKD,wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYzq3kLw9Ab1", "\n"},
	{"PodEnvironment", "- name: DB_PASSWORD\n  value: ", "hunter2x9", "\n"},
	{"TaskDefinition", `{"name": "DB_PASSWORD", "value": "`, "hunter2x9", `"}`},
	{"AppSettings", `<add key="ApiKey" value="`, pad, `"/>`},
	{"Compose", "    POSTGRES_PASSWORD: ", "postgrespw", "\n"},
	{"QuotedWords", "PGPASSWORD='", "correct horse", "' psql"},
	{"NetrcWords", "machine h login u password ", "correcthorse", "\n"},
	{"TelegramURL", "https://api.telegram.test/", "bot123456789:" + "AAH" + pad[:32], "/getMe"},
	{"Netrc", "machine h login u password ", "Zx9kfj2LmQnet", "\n"},
	{"NetrcLines", "machine h\n  login u\n  password ", "Zx9kfj2LmQnet", "\n"},
	{"SQL", "CREATE USER 'app' IDENTIFIED BY '", "Zx9!kfj2LmQ", "';"},
	{"SQLRole", "ALTER ROLE app WITH PASSWORD '", "Zx9!kfj2LmQ", "';"},
	{"JSONWord", `{"password": "`, "letmein", `", "user": "u"}`},
	{
		"PresignedURL", "https://b.s3.test/k?X-Amz-Expires=60&X-Amz-Signature=",
		"478212464318d99a3b789743386905d3874f4c21d7067b13fb255a9dd8bbc7cb", "&x=1",
	},
	{"AzurePAT", "AZURE_DEVOPS_EXT_PAT=", "k3jh5kj6h7k8j9h0k1j2h3k4j5h6k7j8h9k0j1h2k3j4h5k6j7h8", "\n"},
	{"WireGuard", "PrivateKey = ", pad + "abc=", "\n"},
	{"ProseToken", "the API token is ", pad, ", keep it"},
	{"ProseKey", "and the deploy key is ", pad[:32], " until spring"},
	{
		"FewDigits", "the shop has aws_secret_access_key = ", "RDvA82xBdxfhSzwWtDqZ" + "CACPXfrkpRRHRKEKXQhn",
		" until spring",
	},
	{"Prose", "The password is ", "Zx9kfj2LmQ", ", keep it"},

	{"FlagPassword", "openssl --password ", "Zx9kfj2LmQqq8", " -in x"},
	{"FlagEquals", "app --password=", "Zx9kfj2LmQqq8", " -v"},
	{"FlagToken", "app --api-token '", pad, "' -v"},
	{"MySQL", "mysql -uroot -p", "Zx9kfj2LmQqq9", " app"},
	{"MySQLQuoted", "mysqldump -u root -p'", "pass word", "' app"},
	{"SSHPass", "sshpass -p '", "correcthorse", "' ssh a@b"},
	{"Redis", "redis-cli -h cache -a ", "correcthorse", " ping"},
	{"CurlUser", "curl -u admin:", "Sup3rSecretPw", " https://x.test"},
	{"CurlBundle", "curl -su 'admin:", "Sup3rSecretPw", "' https://x.test"},
	{"CurlLong", "curl -sS https://x.test --user admin:", "Sup3rSecretPw", ""},
	{"DockerLogin", "docker login -u me -p ", "correcthorse", " r.test"},
	{"OpenSSLPass", "openssl rsa -passin pass:", "correcthorse", " -in k"},
	{"AfterPipe", "cat x | curl -u a:", "correcthorse", " https://x.test"},

	{"URL", "DATABASE_URL=postgres://app:", "S3cretPassw0rd", "@db.internal:5432/prod"},
	{"URLWords", "mysql://root:", "correct-horse-battery", "@10.0.0.5/app"},
	{"URLAt", "postgres://app:", "p4ss@w0rd!x", "@db.internal/prod"},
	{"URLSlash", "postgres://app:", "p4/ss#w0rd", "@db.internal/prod"},
	{"URLNoUser", "redis://:", "Xk29fLq81", "@cache:6379/0"},
	{"URLShort", "mysql://root:", "abc", "@h/db"},
	{"URLHosts", "mongodb://u:", "Xk29fLq81", "@h1:27017,h2:27017/db"},
	{"URLToken", "https://", "4f1c9a7be2d83056a1b9c4d7e6f08213", "@o1.ingest.test/1"},

	{
		"PEM", "",
		"-----BEGIN RSA " + "PRIVATE KEY-----\n" + pad + pad + "\n" + pad + "\nabc1==\n-----END RSA " + "PRIVATE KEY-----",
		"\nafter",
	},
	{
		"PEMNumbered", "     1\t",
		"-----BEGIN EC " + "PRIVATE KEY-----\n     2\t" + pad + "\n     3\t" + pad + "\n     4\t-----END EC " + "PRIVATE KEY-----",
		"\n     5\tafter",
	},
	{
		"PEMEncrypted", "",
		"-----BEGIN RSA " + "PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n" + pad + pad + "\n-----END RSA " + "PRIVATE KEY-----",
		"",
	},
	{"PEMOneLine", `"private_key": "`, "-----BEGIN " + `PRIVATE KEY-----\n` + pad + `\n-----END ` + `PRIVATE KEY-----\n`, `",`},
	{
		"PEMDiff", "+",
		"-----BEGIN " + "PRIVATE KEY-----\n+" + pad + "\n+" + pad + "\n+-----END " + "PRIVATE KEY-----",
		"\n context",
	},
	{
		"PGP", "",
		"-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n" + pad + pad + "\n=abcd\n-----END PGP " + "PRIVATE KEY BLOCK-----",
		"",
	},
}

// places are where a text may stand.
var places = []struct {
	name string
	put  func(string) string
}{
	{"Alone", func(s string) string { return s }},
	{"InText", func(s string) string { return "first line\n" + s + "\nlast line" }},
	{"InJSON", func(s string) string {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.Encode(map[string]string{"command": "cd x\n" + s})
		return b.String()
	}},
}

func TestKinds(t *testing.T) {
	for _, k := range kinds {
		for _, p := range places {
			t.Run(k.name+p.name, func(t *testing.T) {
				got := Mask(p.put(k.before + k.value + k.after))
				if part, ok := leaked(got, k.value); ok {
					t.Errorf("%q is still in %q", part, got)
				}
				for _, around := range []string{k.before, k.after} {
					if !strings.Contains(got, inside(p.put(around), p.put(""))) {
						t.Errorf("%q is gone: %q", around, got)
					}
				}
				if again := Mask(got); again != got {
					t.Errorf("masked again: %q", again)
				}
				if p.name == "InJSON" && !json.Valid([]byte(got)) {
					t.Errorf("no JSON any more: %q", got)
				}
			})
		}
	}
}

// leaked returns a part of a value that can be read in a text.
func leaked(text, value string) (string, bool) {
	const enough = 6
	for i := 0; i+min(enough, len(value)) <= len(value); i++ {
		if part := value[i : i+min(enough, len(value))]; !strings.ContainsAny(part, " -\n\t") &&
			!strings.Contains("PRIVATE KEY", part) && strings.Contains(text, part) {
			return part, true
		}
	}
	return "", false
}

// inside returns what s has between the ends that it shares with empty.
func inside(s, empty string) string {
	i := 0
	for i < len(empty) && s[i] == empty[i] {
		i++
	}
	return s[i : len(s)-(len(empty)-i)]
}

// kept are texts that hold no credential.
var kept = []struct{ name, text string }{
	{"PrimaryKey", "the primary key is 01a20644-69f4-7000-8cfe-fbae6241cc7c of the order"},
	{"CacheKey", "the cache key is 5f3e8d9c1b2a4f6e8d7c9b0a1f2e3d4c5b6a7f8e"},
	{"NextToken", "the next token is the_closing_brace_of_the_block"},
	{"Commit", "commit 5f3e8d9c1b2a4f6e8d7c9b0a1f2e3d4c5b6a7f8e"},
	{"CommitKey", "key: 5f3e8d9c1b2a4f6e8d7c9b0a1f2e3d4c5b6a7f8e"},
	{"CommitVariable", "BUILD_KEY=5f3e8d9c1b2a4f6e8d7c9b0a1f2e3d4c5b6a7f8e"},
	{
		"CacheName",
		"cache-key-4f1c9a7be2d83056a1b9c4d7e6f08213 SKU4f1c9a7be2d83056a1b9c4d7e6f08213 toolu_01A09q90qw90lq917835lq9",
	},
	{"ARN", "SECRET_ARN=arn:aws:secretsmanager:eu-west-1:123456789012:secret:app-AbCd12"},
	{"Fingerprint", "fingerprint SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8"},
	{"UUID", `"id": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "key": "6ba7b810-9dad-11d1-80b4-00c04fd430c8"`},
	{"GoSum", "golang.org/x/sys v0.30.0 h1:QjkSwP/36a20jFYWkSue1YwXzLmsV5Gfq7Eiy72C1uc="},
	{"Integrity", `"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="`},
	{"CacheKey", `"key": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="`},
	{"Digest", "image: nginx@sha256:4f1c9a7be2d83056a1b9c4d7e6f082134f1c9a7be2d83056a1b9c4d7e6f08213"},
	{"PublicKey", "public_key: AAAAB3NzaC1yc2EAAAADAQABAAABgQC7aB3dE5fG7hJ9kL1mN2pQ"},
	{"PublicPEM", "-----BEGIN PUBLIC KEY-----\n" + pad + pad + "\n-----END PUBLIC KEY-----"},
	{"PageToken", `"nextPageToken": "CAEQAA1b2C3d4E5f6G7h8"`},
	{"Signature", `"signature": "EqQBCkYIAhgCIkDd9a8bC7eF6gH5iJ4kL3mN2oP1qR0sT"`},
	{"Session", `"session_id": "0f8fad5b-d9cb-469f-a165-70867728950e"`},
	{"Handle", "expand d:1f2e3d4c, message c:12"},
	{"Path", "SECRET_KEY_FILE=/run/secrets/app2/key_2024_prod.pem"},
	{"PathValue", "token: /var/lib/app/tokens/2024/11/22/a1b2c3d4e5.json"},
	{"PWD", "PWD=/home/user/project2\nOLDPWD=/home/user/x1y2z3"},
	{"S3Key", `Key: "uploads/2024/AbcDef12/photo.png"`},

	{"Call", `password = getenv("DATABASE_PASSWORD_2024")`},
	{"Method", "token := lexer.Next()"},
	{"CallWithDigits", "token := getToken2(ctx, id)"},
	{"Member", "const password = req.body.password1"},
	{"Index", `api_key = os.environ["API_KEY_2024_PRODUCTION"]`},
	{"Type", "password: string;"},
	{"GenericType", "token: Option<String>,"},
	{"Schema", "password: z.string().min(8)"},
	{"Struct", "Token token.Token `json:\"token\"`"},
	{"Constant", "case tokenIdentifierStart: return nil"},
	{"Wording", "metrics identified by `metricNames2024` and a password 'field' in it"},
	{"NameAsValue", `dbPassword: "encodeUserPassword"`},
	{"Escapes", `"PASS:\x61\x62\x63\xff\x00"`},
	{"Sentence", `"password": "must have at least 8 characters and 1 digit"`},
	{"OtherValue", "- name: LOG_LEVEL\n  value: debug12345\n- key: color\n  value: blue1234"},
	{"Set", "set the password field to 12 characters; ENV PATH /usr/bin:/bin"},
	{
		"Constants",
		"const RESET_PASSWORD = 'reset-password'\n  RESET_PASSWORD: resetPassword,\n  INVALID_PASSWORD: required\n",
	},
	{"Login", "the login form password field1 is checked"},
	{"Label", `label="Password" name="password" type="password"`},
	{"Usage", "  --password <password>   password of the user, or --password-stdin"},
	{"UsageWord", "use the --password flag, or --token TOKEN"},
	{"Variable", "API_KEY=$OPENAI_API_KEY SECRET=${SECRET_2024_PRODUCTION}"},
	{"Actions", "token: ${{ secrets.GITHUB_TOKEN_2024 }}"},
	{"Template", "https://user:${PASSWORD}@host/ and https://user:<password>@host/"},
	{"Stars", "password: ********"},
	{"Environment", `cmd.Env = append(cmd.Env, "PWD="+dir2)`},
	{"Numbers", "max_tokens: 1234567890123456789, token: 12345678901234567890"},
	{"TestNames", "--- PASS: TestRefreshTokenWithXMLHTTPRequest (0.00s)\n    PASS: 12345"},
	{"Words", "bypass=true1234 compass: north12 monkey: banana12 hockey=puck1234"},
	{"Tar", "tar -p -xf a.tar; mkdir -p build/output1; docker run -p 8080:80 -u 1000:1000 img"},
	{"MySQLPrompt", "mysql -u root -p mydatabase"},
	{"CurlNoPassword", "curl -u admin https://x.test:8080/"},
	{"FlagsOfOthers", "mysql app | sort -uroot1 -p12345678"},
	{"PortInURL", "https://example.org:8080/a@b and http://[::1]:8080/x@y"},
	{"UserInURL", "ssh://git@github.com:22/a/b and https://user@example.org/"},
	{"CodeOfKeys", "const begin = \"-----BEGIN PRIVATE KEY-----\"\nconst end = \"-----END PRIVATE KEY-----\""},
	{"CookieWords", "Cookie: theme=dark; lang=en-US\nSet-Cookie: a=b; expires=Wed, 21 Oct 2026 07:28:00 GMT"},
	{"SKWord", "task-management-system-for-everyone sk-learn-contrib-package-name-of-words"},
	{"Config", "name: app\nkey: value\nauth: oauth2\nsalt: none\nretries: 3\nhost: db-1.internal:5432"},
	{"Slug", "token-bucket-rate-limiter-2024: token_bucket_v2_final"},
}

func TestKept(t *testing.T) {
	for _, k := range kept {
		for _, p := range places {
			t.Run(k.name+p.name, func(t *testing.T) {
				if text := p.put(k.text); Mask(text) != text {
					t.Errorf("got  %q\nwant %q", Mask(text), text)
				}
			})
		}
	}
}
