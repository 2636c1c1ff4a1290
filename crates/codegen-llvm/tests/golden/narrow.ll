define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca i64, align 8
  %11 = alloca i64, align 8
  %12 = alloca i64, align 8
  %13 = alloca i64, align 8
  %14 = alloca i64, align 8
  %15 = alloca <16 x i1>, align 2
  %16 = alloca i64, align 8
  %17 = alloca i64, align 8
  %18 = alloca i64, align 8
  %19 = alloca i64, align 8
  %20 = alloca i64, align 8
  %21 = alloca i64, align 8
  %22 = alloca i64, align 8
  %23 = alloca i64, align 8
  %24 = alloca <16 x i1>, align 2
  %25 = alloca <16 x i1>, align 2
  %26 = alloca <16 x i1>, align 2
  %27 = alloca ptr, align 8
  %28 = alloca ptr, align 8
  br label %29

29:
  %30 = load i32, ptr %1, align 4
  %31 = zext i32 %30 to i64
  %32 = getelementptr i8, ptr %1, i64 4
  %33 = load i32, ptr %32, align 4
  %34 = zext i32 %33 to i64
  %35 = getelementptr i8, ptr %1, i64 8
  %36 = load i32, ptr %35, align 4
  %37 = zext i32 %36 to i64
  %38 = getelementptr i8, ptr %1, i64 16
  %39 = load i32, ptr %38, align 4
  %40 = zext i32 %39 to i64
  %41 = getelementptr i8, ptr %1, i64 20
  %42 = load i32, ptr %41, align 4
  %43 = zext i32 %42 to i64
  %44 = getelementptr i8, ptr %1, i64 24
  %45 = load i32, ptr %44, align 4
  %46 = zext i32 %45 to i64
  %47 = getelementptr i8, ptr %1, i64 32
  %48 = load i64, ptr %47, align 8
  %49 = getelementptr i8, ptr %1, i64 40
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr i8, ptr %1, i64 48
  %52 = load i64, ptr %51, align 8
  %53 = getelementptr i8, ptr %1, i64 28
  %54 = load i32, ptr %53, align 4
  %55 = zext i32 %54 to i64
  %56 = getelementptr i8, ptr %1, i64 12
  %57 = load i32, ptr %56, align 4
  %58 = zext i32 %57 to i64
  %59 = getelementptr i8, ptr %1, i64 72
  %60 = load i64, ptr %59, align 8
  %61 = getelementptr i8, ptr %1, i64 56
  %62 = load i64, ptr %61, align 8
  %63 = getelementptr i8, ptr %4, i64 %62
  %64 = load i64, ptr %0, align 8
  %65 = getelementptr i8, ptr %4, i64 %64
  %66 = getelementptr i8, ptr %0, i64 8
  %67 = load i32, ptr %66, align 4
  %68 = add i64 %2, %3
  %69 = getelementptr i8, ptr %1, i64 80
  %70 = load ptr, ptr %69, align 8
  store i8 0, ptr %6, align 1
  %71 = icmp eq ptr %70, null
  %72 = select i1 %71, ptr %6, ptr %70
  br label %73

73:
  %74 = phi i64 [ %2, %29 ], [ %91, %90 ]
  %75 = icmp ult i64 %74, %68
  br i1 %75, label %76, label %92

76:
  %77 = load atomic i8, ptr %72 monotonic, align 1
  %78 = icmp ne i8 %77, 0
  br i1 %78, label %92, label %79

79:
  %80 = udiv i64 %74, %40
  %81 = urem i64 %74, %40
  %82 = urem i64 %80, %43
  %83 = udiv i64 %80, %43
  %84 = mul i64 %81, %31
  %85 = add i64 %84, %48
  %86 = mul i64 %82, %34
  %87 = add i64 %86, %50
  %88 = mul i64 %83, %37
  %89 = add i64 %88, %52
  br label %93

90:
  %91 = add i64 %74, 1
  br label %73

92:
  ret void

93:
  store i64 0, ptr %10, align 8
  br label %95

94:
  store i64 0, ptr %18, align 8
  br label %157

95:
  store i64 0, ptr %9, align 8
  store i64 0, ptr %14, align 8
  br label %96

96:
  store i64 0, ptr %8, align 8
  br label %97

97:
  %98 = load i64, ptr %8, align 8
  %99 = sub i64 %31, %98
  %100 = icmp uge i64 %99, 16
  br i1 %100, label %113, label %126

101:
  br label %135

102:
  %103 = load i64, ptr %9, align 8
  %104 = add i64 %103, 1
  store i64 %104, ptr %9, align 8
  %105 = load i64, ptr %9, align 8
  %106 = icmp ult i64 %105, %34
  br i1 %106, label %96, label %107

107:
  %108 = load i64, ptr %10, align 8
  %109 = add i64 %108, 1
  store i64 %109, ptr %10, align 8
  %110 = load i64, ptr %10, align 8
  %111 = icmp ult i64 %110, %37
  br i1 %111, label %95, label %112

112:
  br label %94

113:
  %114 = load i64, ptr %8, align 8
  %115 = load i64, ptr %9, align 8
  %116 = load i64, ptr %10, align 8
  %117 = mul i64 %116, %34
  %118 = add i64 %117, %115
  %119 = mul i64 %118, %31
  %120 = add i64 %119, %114
  store <16 x i1> zeroinitializer, ptr %15, align 2
  br label %128

121:
  %122 = load i64, ptr %8, align 8
  %123 = add i64 %122, 16
  store i64 %123, ptr %8, align 8
  %124 = load i64, ptr %8, align 8
  %125 = icmp ult i64 %124, %31
  br i1 %125, label %97, label %102

126:
  %127 = load i64, ptr %8, align 8
  store i64 %127, ptr %11, align 8
  store i64 %31, ptr %12, align 8
  br label %101

128:
  store <16 x i1> zeroinitializer, ptr %15, align 2
  %129 = mul i64 %114, 4
  %130 = getelementptr i8, ptr %65, i64 %129
  %131 = trunc i64 %114 to i32
  %132 = insertelement <16 x i32> poison, i32 %131, i32 0
  %133 = shufflevector <16 x i32> %132, <16 x i32> poison, <16 x i32> zeroinitializer
  %134 = add <16 x i32> %133, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  store <16 x i32> %134, ptr %130, align 4
  store i32 1, ptr %7, align 4
  br label %121

135:
  %136 = load i64, ptr %11, align 8
  %137 = load i64, ptr %9, align 8
  %138 = load i64, ptr %10, align 8
  %139 = mul i64 %138, %34
  %140 = add i64 %139, %137
  %141 = mul i64 %140, %31
  %142 = add i64 %141, %136
  br label %153

143:
  %144 = load i64, ptr %11, align 8
  %145 = add i64 %144, 1
  store i64 %145, ptr %11, align 8
  %146 = load i64, ptr %11, align 8
  %147 = load i64, ptr %12, align 8
  %148 = icmp ult i64 %146, %147
  br i1 %148, label %135, label %149

149:
  %150 = load i64, ptr %12, align 8
  store i64 %150, ptr %8, align 8
  %151 = load i64, ptr %12, align 8
  %152 = icmp ult i64 %151, %31
  br i1 %152, label %97, label %102

153:
  %154 = mul i64 %136, 4
  %155 = getelementptr i8, ptr %65, i64 %154
  %156 = trunc i64 %136 to i32
  store i32 %156, ptr %155, align 4
  store i32 1, ptr %7, align 4
  br label %143

157:
  store i64 0, ptr %17, align 8
  store i64 0, ptr %23, align 8
  br label %158

158:
  store i64 0, ptr %16, align 8
  %159 = load i64, ptr %17, align 8
  %160 = load i64, ptr %18, align 8
  %161 = mul i64 %160, %34
  %162 = add i64 %161, %159
  %163 = mul i64 %162, %31
  %164 = add i64 %163, 0
  %165 = or i64 %159, %160
  %166 = icmp eq i64 %165, 0
  %167 = add i64 %31, 15
  %168 = udiv i64 %167, 16
  %169 = freeze i32 0
  %170 = freeze i32 %67
  %171 = sub i64 %168, 1
  %172 = mul i64 %171, 16
  %173 = add i64 %172, 15
  %174 = zext i32 %169 to i64
  %175 = add i64 %174, %173
  %176 = icmp ule i64 %175, 4294967295
  %177 = zext i32 %169 to i64
  %178 = zext i32 %170 to i64
  %179 = icmp ult i64 %177, %178
  %180 = sub i64 %178, %177
  %181 = sub i64 %180, 1
  %182 = udiv i64 %181, 16
  %183 = add i64 %182, 1
  %184 = select i1 %179, i64 %183, i64 0
  %185 = select i1 %176, i64 %184, i64 %168
  %186 = call i64 @llvm.umin.i64(i64 %168, i64 %185)
  %187 = icmp uge i64 0, %186
  %188 = select i1 %187, i64 0, i64 0
  %189 = zext i1 %166 to i64
  %190 = select i1 %187, i64 %189, i64 %186
  %191 = mul i64 %190, 16
  %192 = call i64 @llvm.umin.i64(i64 %191, i64 %31)
  %193 = mul i64 %188, 16
  store i64 %193, ptr %16, align 8
  store i64 %192, ptr %21, align 8
  %194 = icmp ult i64 %193, %192
  br i1 %194, label %212, label %201

195:
  %196 = load i64, ptr %21, align 8
  %197 = load i64, ptr %16, align 8
  %198 = sub i64 %196, %197
  %199 = icmp uge i64 %198, 16
  br i1 %199, label %213, label %238

200:
  br label %264

201:
  %202 = load i64, ptr %17, align 8
  %203 = add i64 %202, 1
  store i64 %203, ptr %17, align 8
  %204 = load i64, ptr %17, align 8
  %205 = icmp ult i64 %204, %34
  br i1 %205, label %158, label %206

206:
  %207 = load i64, ptr %18, align 8
  %208 = add i64 %207, 1
  store i64 %208, ptr %18, align 8
  %209 = load i64, ptr %18, align 8
  %210 = icmp ult i64 %209, %37
  br i1 %210, label %157, label %211

211:
  br label %90

212:
  br label %195

213:
  %214 = load i64, ptr %16, align 8
  %215 = load i64, ptr %17, align 8
  %216 = load i64, ptr %18, align 8
  %217 = mul i64 %216, %34
  %218 = add i64 %217, %215
  %219 = mul i64 %218, %31
  %220 = add i64 %219, %214
  %221 = insertelement <16 x i64> poison, i64 %214, i32 0
  %222 = shufflevector <16 x i64> %221, <16 x i64> poison, <16 x i32> zeroinitializer
  %223 = add <16 x i64> %222, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %224 = trunc <16 x i64> %223 to <16 x i32>
  %225 = insertelement <16 x i32> poison, i32 %67, i32 0
  %226 = shufflevector <16 x i32> %225, <16 x i32> poison, <16 x i32> zeroinitializer
  %227 = icmp ult <16 x i32> %224, %226
  %228 = bitcast <16 x i1> %227 to i16
  %229 = icmp eq i16 %228, 0
  %230 = icmp eq i16 %228, -1
  %231 = or i1 %229, %230
  br i1 %231, label %241, label %242

232:
  %233 = load i64, ptr %16, align 8
  %234 = add i64 %233, 16
  store i64 %234, ptr %16, align 8
  %235 = load i64, ptr %16, align 8
  %236 = load i64, ptr %21, align 8
  %237 = icmp ult i64 %235, %236
  br i1 %237, label %195, label %201

238:
  %239 = load i64, ptr %16, align 8
  store i64 %239, ptr %19, align 8
  %240 = load i64, ptr %21, align 8
  store i64 %240, ptr %20, align 8
  br label %200

241:
  store <16 x i1> zeroinitializer, ptr %24, align 2
  store <16 x i1> zeroinitializer, ptr %25, align 2
  store <16 x i1> zeroinitializer, ptr %26, align 2
  br label %245

242:
  %243 = load i64, ptr %16, align 8
  store i64 %243, ptr %19, align 8
  %244 = add i64 %243, 16
  store i64 %244, ptr %20, align 8
  br label %200

245:
  store <16 x i1> zeroinitializer, ptr %24, align 2
  %246 = trunc i64 %214 to i32
  %247 = insertelement <16 x i32> poison, i32 %246, i32 0
  %248 = shufflevector <16 x i32> %247, <16 x i32> poison, <16 x i32> zeroinitializer
  %249 = add <16 x i32> %248, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %250 = insertelement <16 x i32> poison, i32 %67, i32 0
  %251 = shufflevector <16 x i32> %250, <16 x i32> poison, <16 x i32> zeroinitializer
  %252 = icmp ult <16 x i32> %249, %251
  %253 = mul i64 %214, 4
  %254 = getelementptr i8, ptr %65, i64 %253
  store ptr %254, ptr %27, align 8
  %255 = trunc i64 %214 to i32
  %256 = icmp ult i32 %255, %67
  br i1 %256, label %262, label %263

257:
  store <16 x i1> zeroinitializer, ptr %25, align 2
  %258 = load ptr, ptr %27, align 8
  %259 = insertelement <16 x i32> poison, i32 %67, i32 0
  %260 = shufflevector <16 x i32> %259, <16 x i32> poison, <16 x i32> zeroinitializer
  store <16 x i32> %260, ptr %258, align 4
  br label %261

261:
  store <16 x i1> zeroinitializer, ptr %26, align 2
  store i32 -1, ptr %7, align 4
  br label %232

262:
  br label %257

263:
  br label %261

264:
  %265 = load i64, ptr %19, align 8
  %266 = load i64, ptr %17, align 8
  %267 = load i64, ptr %18, align 8
  %268 = mul i64 %267, %34
  %269 = add i64 %268, %266
  %270 = mul i64 %269, %31
  %271 = add i64 %270, %265
  br label %283

272:
  %273 = load i64, ptr %19, align 8
  %274 = add i64 %273, 1
  store i64 %274, ptr %19, align 8
  %275 = load i64, ptr %19, align 8
  %276 = load i64, ptr %20, align 8
  %277 = icmp ult i64 %275, %276
  br i1 %277, label %264, label %278

278:
  %279 = load i64, ptr %20, align 8
  store i64 %279, ptr %16, align 8
  %280 = load i64, ptr %20, align 8
  %281 = load i64, ptr %21, align 8
  %282 = icmp ult i64 %280, %281
  br i1 %282, label %195, label %201

283:
  %284 = trunc i64 %265 to i32
  %285 = icmp ult i32 %284, %67
  %286 = mul i64 %265, 4
  %287 = getelementptr i8, ptr %65, i64 %286
  store ptr %287, ptr %28, align 8
  br i1 %285, label %291, label %292

288:
  %289 = load ptr, ptr %28, align 8
  store i32 %67, ptr %289, align 4
  br label %290

290:
  store i32 -1, ptr %7, align 4
  br label %272

291:
  br label %288

292:
  br label %290
